//! Secrets for tests, put together from parts so that no file of this repository contains one.

/// A kind of secret: the text around it and the part that must disappear.
pub struct Planted {
    pub kind: &'static str,
    /// Has `{}` where the secret stands.
    pub around: &'static str,
    pub secret: String,
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// The parts of each kind: literals, and `h32` for 32 random hex digits, `a` for letters and digits, `w` also with `_`
/// and `-`, `u` for upper case and digits, `k` for base32, `d` for digits, `b` for base64. A literal starts with `=`.
const KINDS: &[(&str, &str, &str)] = &[
    ("aws key", "", "=AK =IA k16"),
    ("aws temporary key", "", "=AS =IA k16"),
    ("aws secret key", "aws_secret_access_key = {}", "b40"),
    ("aws secret key", "\"SecretAccessKey\": \"{}\"", "b40"),
    ("aws session token", "AWS_SESSION_TOKEN={}", "b240"),
    ("github classic", "", "=gh =p_ a36"),
    ("github oauth", "", "=gh =o_ a36"),
    ("github app", "", "=gh =s_ a36"),
    ("github refresh", "", "=gh =r_ a76"),
    ("github fine-grained", "", "=github =_pat_ a22 =_ a59"),
    ("gitlab", "", "=gl =pat- a20"),
    ("gitlab runner", "", "=gl =rt- a20"),
    ("bitbucket", "", "=AT =BB a32"),
    ("atlassian", "", "=ATA =TT3 w180"),
    ("slack bot", "", "=xo =xb- d12 =- d12 =- a24"),
    ("slack user", "", "=xo =xp- d12 =- d12 =- h32"),
    ("slack app", "", "=xa =pp-1- u11 =- d13 =- h64"),
    ("slack webhook", "https://hooks.slack.com/{}", "=services/T u9 =/B u10 =/ a24"),
    ("discord", "", "=M a25 =. w6 =. a37"),
    ("discord webhook", "https://discord.com/api/webhooks/{}", "d18 =/ a68"),
    ("telegram", "", "=7 d9 =:A =A a33"),
    ("telegram address", "https://api.telegram.org/bot{}/getMe", "=7 d9 =:A =A a33"),
    ("stripe", "", "=sk =_live_ a24"),
    ("stripe test", "", "=sk =_test_ a99"),
    ("stripe restricted", "", "=rk =_live_ a24"),
    ("stripe webhook", "", "=wh =sec_ a32"),
    ("google api", "", "=AI =za a35"),
    ("google oauth token", "", "=ya =29. a120"),
    ("google oauth secret", "", "=GOC =SPX- a28"),
    ("google refresh", "", "=1/ =/0 a60"),
    ("openai", "", "=sk =- a48"),
    ("openai project", "", "=sk =-proj- w120"),
    ("anthropic", "", "=sk =-ant-api03- w93 =AA"),
    ("openrouter", "", "=sk =-or-v1- h64"),
    ("hugging face", "", "=h =f_ a34"),
    ("groq", "", "=gs =k_ a52"),
    ("xai", "", "=xa =i- a80"),
    ("perplexity", "", "=pp =lx- a48"),
    ("replicate", "", "=r =8_ a37"),
    ("npm", "", "=np =m_ a36"),
    ("pypi", "", "=py =pi-AgEIcHl =waS5vcmc w150"),
    ("rubygems", "", "=ruby =gems_ h48"),
    ("twilio", "", "=S =K h32"),
    ("twilio auth token", "TWILIO_AUTH_TOKEN={}", "h32"),
    ("sendgrid", "", "=S =G. a22 =. a43"),
    ("mailgun", "", "=ke =y- h32"),
    ("brevo", "", "=xkey =sib- h64 =- a16"),
    ("digitalocean", "", "=do =p_v1_ h64"),
    ("cloudflare", "CLOUDFLARE_API_TOKEN={}", "a40"),
    ("cloudflare in prose", "the cloudflare api key is {}", "h37"),
    ("azure storage", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};", "b86 ==="),
    ("azure bus", "Endpoint=sb://x/;SharedAccessKeyName=a;SharedAccessKey={}", "b43 =="),
    ("azure signature", "https://a.blob.core.windows.net/c?sv=2022-11-02&sig={}", "a43 =%3D"),
    ("azure client secret", "", "a3 =8Q =~ a34"),
    ("heroku", "HEROKU_API_KEY={}", "h8 =- h4 =- h4 =- h4 =- h12"),
    ("shopify", "", "=shp =at_ h32"),
    ("square", "", "=sq0 =atp- a22"),
    ("square access", "", "=EA =AA a60"),
    ("databricks", "", "=da =pi h32"),
    ("datadog", "DD_API_KEY={}", "h32"),
    ("datadog app", "datadog app key: {}", "h40"),
    ("new relic", "", "=NR =AK- u27"),
    ("sentry user", "", "=sn =tryu_ h64"),
    ("sentry org", "", "=sn =trys_ a90"),
    ("grafana", "", "=gl =sa_ a32 =_ h8"),
    ("dynatrace", "", "=dt0 =c01. u24 =. u64"),
    ("linear", "", "=lin =_api_ a40"),
    ("notion", "", "=nt =n_ a46"),
    ("notion old", "", "=sec =ret_ a43"),
    ("airtable", "", "=pa =t a14 =. h64"),
    ("figma", "", "=fi =gd_ a40"),
    ("vault", "", "=hv =s. a92"),
    ("terraform cloud", "", "a14 =.atlas =v1. a67"),
    ("docker hub", "", "=dckr =_pat_ a27"),
    ("doppler", "", "=dp =.pt. a43"),
    ("fly", "", "=fm =2_ b300"),
    ("fly old", "", "=fo =1_ a43"),
    ("supabase", "", "=sb =p_ h40"),
    ("planetscale", "", "=psc =ale_tkn_ a43"),
    ("tailscale", "", "=ts =key-auth- a12 =- a32"),
    ("postman", "", "=PM =AK- h24 =- h34"),
    ("pulumi", "", "=pu =l- h40"),
    ("age", "", "=AGE-SECRET- =KEY-1 u58"),
    ("jwt", "", "=ey =J a30 =.ey =J a80 =. a43"),
    ("butler token", "", "=bt =l_ h64"),
    ("butler session", "", "=bt =s_ h12 =. h8 =. h64"),
    ("url password", "postgres://app:{}@db.example.com:5432/app", "a12"),
    ("url password without user", "redis://:{}@cache:6379", "a16"),
    ("short url password", "mysql://root:{}@db", "=hun =ter2"),
    ("password assignment", "password={}", "a14 =! d2"),
    ("password in prose", "my wifi password is {}", "=Tr0u =b4dor&3"),
    ("password key", "\"db_password\": \"{}\"", "a10 =$ d2 =#"),
    ("api key assignment", "api_key: {}", "a32"),
    ("api key header", "X-Api-Key: {}", "h40"),
    ("client secret", "client_secret={}&grant_type=x", "a40"),
    ("access token", "access_token=\"{}\"", "a40"),
    ("bearer header", "Authorization: Bearer {}", "a40"),
    ("basic header", "Authorization: Basic {}", "=YW5uOm =h1bnRl =cjIyMg ==="),
    ("password in a sentence", "the password for the router is {}", "=Che =ese =1234"),
    ("password in German", "das WLAN Passwort ist {}", "=Apfel =kuchen =99"),
    ("password in longer German", "Das Kennwort vom Server im Keller lautet jetzt {}", "=Apfel =kuchen =99"),
    ("password in French", "le mot de passe de l'imprimante est {}", "=From =age =123"),
    ("password in Spanish", "mi contraseña es {}", "=Que =so =1234"),
];

/// One secret of each kind. The same numbers come out of every run.
pub fn all() -> Vec<Planted> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut planted: Vec<Planted> = Vec::new();
    for (kind, around, parts) in KINDS {
        let secret = parts.split(' ').map(|part| random.part(part)).collect();
        planted.push(Planted { kind, around: if around.is_empty() { "{}" } else { around }, secret });
    }
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "] {
        planted.push(Planted { kind: "pem block", around: "{}", secret: pem(kind, "", &mut random) });
    }
    planted.push(Planted { kind: "pgp block", around: "{}", secret: pem("PGP ", " BLOCK", &mut random) });
    planted
}

fn pem(kind: &str, block: &str, random: &mut Random) -> String {
    let mark = |end: &str| format!("-----{end} {kind}PRIVATE KEY{block}-----");
    let lines: Vec<String> = (0..6).map(|_| random.part("b64")).collect();
    [mark("BEGIN"), lines.join("\n"), mark("END")].join("\n")
}

struct Random(u64);

impl Random {
    fn part(&mut self, part: &str) -> String {
        if let Some(literal) = part.strip_prefix('=') {
            return literal.to_owned();
        }
        let alphabet = match &part[..1] {
            "h" => DIGITS.to_owned() + "abcdef",
            "a" => [LOWER, UPPER, DIGITS].concat(),
            "w" => [LOWER, UPPER, DIGITS, "_-"].concat(),
            "u" => [UPPER, DIGITS].concat(),
            "k" => UPPER.to_owned() + "234567",
            "d" => DIGITS.to_owned(),
            "b" => [LOWER, UPPER, DIGITS, "+/"].concat(),
            other => panic!("unknown part {other}"),
        };
        let length: usize = part[1..].parse().expect("a length");
        (0..length).map(|_| char::from(alphabet.as_bytes()[self.below(alphabet.len())])).collect()
    }

    /// xorshift64
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }
}
