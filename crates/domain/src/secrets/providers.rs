//! Tokens that a fixed prefix identifies. Specific rules come before general ones.

use super::randomness::is_pem;
use super::rule::{Reach, Rule, Start, is_token_byte};

pub(super) const RULES: &[Rule] = &[
    Rule::context(
        "private key",
        &["-----begin"],
        concat!(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:",
            r"(?:-?[^-])*-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|",
            r#"[A-Za-z0-9+/=\s\\"]*)"#,
        ),
    )
    .reach(Reach::Unlimited)
    .check(is_pem),
    Rule::prefix("age key", &["age-secret-key-"], r"AGE-SECRET-KEY-1[A-Z0-9]{58}<end>"),
    Rule::prefix("jwt", &["eyj"], r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}").reach(Reach::Long),
    Rule::prefix("butler token", &["btl_"], r"btl_[0-9a-f]{64}<end>"),
    Rule::prefix("butler token", &["bts_"], r"bts_[0-9a-f]{2,}\.[0-9a-f]{2,}\.[0-9a-f]{64}<end>").reach(Reach::Long),
    // Clouds
    Rule::prefix("aws key", &["akia", "asia", "abia", "acca"], r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}<end>"),
    Rule::prefix("google key", &["aiza"], r"AIza[A-Za-z0-9_-]{35}"),
    Rule::prefix("google oauth token", &["ya29."], r"ya29\.[A-Za-z0-9_-]{20,}").reach(Reach::Long),
    Rule::prefix("google oauth secret", &["gocspx-"], r"GOCSPX-[A-Za-z0-9_-]{28}"),
    Rule::prefix("google refresh token", &["1//0"], r"1//0[A-Za-z0-9_-]{40,}"),
    Rule::prefix("digitalocean token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_[a-f0-9]{64}<end>"),
    Rule::prefix("cloudflare key", &["v1.0-"], r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}<end>"),
    Rule::prefix("alibaba key", &["ltai"], r"LTAI[A-Za-z0-9]{20}<end>"),
    Rule::prefix("heroku key", &["hrku-"], r"HRKU-[A-Za-z0-9_-]{36,}"),
    Rule::prefix("fly token", &["fm1r_", "fm1a_", "fm2_"], r"fm(?:1r|1a|2)_[A-Za-z0-9+/_-]{40,}={0,2}"),
    Rule::prefix("fly token", &["fo1_"], r"fo1_[A-Za-z0-9_-]{43}"),
    Rule::prefix("netlify token", &["nfp_"], r"nfp_[A-Za-z0-9]{36,}<end>"),
    Rule::prefix("supabase key", &["sbp_"], r"sbp_[a-f0-9]{40}<end>"),
    Rule::prefix("supabase key", &["sb_secret_"], r"sb_secret_[A-Za-z0-9_-]{30,}"),
    Rule::prefix("planetscale key", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}"),
    Rule::prefix("tailscale key", &["tskey-"], r"tskey-[a-z]{3,12}-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?<end>"),
    // Code and packages
    Rule::prefix("github token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9]{36,}<end>"),
    Rule::prefix("github token", &["github_pat_"], r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}<end>"),
    Rule::prefix(
        "gitlab token",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glffct-", "glimt-", "glagent-"],
        r"gl(?:pat|dt|rt|cbt|ptt|soat|ffct|imt|agent)-[A-Za-z0-9_.-]{20,}",
    ),
    Rule::prefix("bitbucket token", &["atbb"], r"ATBB[A-Za-z0-9]{32}<end>"),
    Rule::prefix("atlassian token", &["atatt3"], r"ATATT3[A-Za-z0-9_=-]{60,}"),
    Rule::prefix("npm token", &["npm_"], r"npm_[A-Za-z0-9]{36}<end>"),
    Rule::prefix("pypi token", &["pypi-ageicHlwaS5vcmc"], r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}"),
    Rule::prefix("rubygems key", &["rubygems_"], r"rubygems_[a-f0-9]{48}<end>"),
    Rule::prefix("docker hub token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    Rule::prefix(
        "doppler token",
        &["dp."],
        r"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}<end>",
    ),
    Rule::prefix("vault token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    Rule::prefix("terraform token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}")
        .start(Start::Before(14..=14, |byte| byte.is_ascii_alphanumeric())),
    Rule::prefix("pulumi token", &["pul-"], r"pul-[a-f0-9]{40}<end>"),
    Rule::prefix("postman key", &["pmak-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}<end>"),
    Rule::prefix("buildkite token", &["bkua_"], r"bkua_[a-f0-9]{40}<end>"),
    Rule::prefix("sonarqube token", &["squ_", "sqp_", "sqa_"], r"sq[upa]_[a-f0-9]{40}<end>"),
    // Language models
    Rule::prefix("anthropic key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{24,}"),
    Rule::prefix(
        "openai key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}",
    ),
    Rule::prefix("openrouter key", &["sk-or-"], r"sk-or-v1-[a-f0-9]{64}<end>"),
    Rule::prefix("openai key", &["sk-"], r"sk-[A-Za-z0-9]{32,}<end>"),
    Rule::prefix("hugging face token", &["hf_"], r"hf_[A-Za-z0-9]{34,}<end>"),
    Rule::prefix("groq key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}<end>"),
    Rule::prefix("xai key", &["xai-"], r"xai-[A-Za-z0-9]{70,}<end>"),
    Rule::prefix("perplexity key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}<end>"),
    Rule::prefix("replicate token", &["r8_"], r"r8_[A-Za-z0-9]{37}<end>"),
    // Messages and mail
    Rule::prefix(
        "slack token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe", "xoxc-", "xoxd-"],
        r"xox[a-e,p-s][-.][A-Za-z0-9%+/.-]{20,}",
    ),
    Rule::prefix("slack token", &["xapp-"], r"xapp-[0-9]-[A-Z0-9]{8,}-[0-9]{8,}-[a-f0-9]{32,}<end>"),
    Rule::prefix(
        "slack webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/((?:services|workflows|triggers)/[A-Za-z0-9]{6,}/[A-Za-z0-9]{6,}/[A-Za-z0-9]{16,})",
    ),
    Rule::prefix("discord webhook", &["/api/webhooks/"], r"/api/webhooks/([0-9]{16,20}/[A-Za-z0-9_-]{60,})")
        .start(Start::Anywhere),
    Rule::prefix("discord token", &["."], r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}")
        .start(Start::Before(24..=28, is_token_byte)),
    Rule::prefix("telegram token", &[":aa"], r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}")
        .start(Start::Before(8..=10, |byte| byte.is_ascii_digit())),
    // In an API address the id follows the word `bot` without a separator.
    Rule::context("telegram token", &["/bot"], r"/bot([0-9]{8,10}:AA[A-Za-z0-9_-]{33})"),
    Rule::prefix("sendgrid key", &["sg."], r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    Rule::prefix("mailgun key", &["key-"], r"key-[a-f0-9]{32}<end>"),
    Rule::prefix("brevo key", &["xkeysib-"], r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}<end>"),
    Rule::prefix(
        "twilio key",
        &[
            "sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske",
            "skf",
        ],
        r"SK[0-9a-f]{32}<end>",
    ),
    // Payments and shops
    Rule::prefix(
        "stripe key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{20,}<end>",
    ),
    Rule::prefix("stripe webhook secret", &["whsec_"], r"whsec_[A-Za-z0-9+/=]{32,}"),
    Rule::prefix(
        "shopify token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}<end>",
    ),
    Rule::prefix("square token", &["sq0atp-", "sq0csp-", "sq0idp-"], r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}"),
    Rule::prefix("square token", &["eaaa"], r"EAAA[A-Za-z0-9_-]{60}"),
    // Data and monitoring
    Rule::prefix("databricks token", &["dapi"], r"dapi[a-f0-9]{32}(?:-[0-9])?<end>"),
    Rule::prefix("new relic key", &["nrak-", "nrii-", "nrjs-"], r"NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,32}"),
    Rule::prefix("sentry token", &["sntrys_"], r"sntrys_[A-Za-z0-9_=+/-]{40,}"),
    Rule::prefix("sentry token", &["sntryu_"], r"sntryu_[a-f0-9]{64}<end>"),
    Rule::prefix("grafana token", &["glsa_"], r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}<end>"),
    Rule::prefix("grafana token", &["glc_ey"], r"glc_ey[A-Za-z0-9+/=]{40,}"),
    Rule::prefix("dynatrace token", &["dt0c01."], r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}<end>"),
    Rule::prefix("linear key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}<end>"),
    Rule::prefix("notion token", &["ntn_"], r"ntn_[A-Za-z0-9]{40,50}<end>"),
    Rule::prefix("notion token", &["secret_"], r"secret_[A-Za-z0-9]{43}<end>"),
    Rule::prefix("airtable token", &["pat"], r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}<end>"),
    Rule::prefix("figma token", &["figd_"], r"figd_[A-Za-z0-9_-]{40,}"),
    Rule::prefix("contentful token", &["cfpat-"], r"CFPAT-[A-Za-z0-9_-]{43}"),
];
