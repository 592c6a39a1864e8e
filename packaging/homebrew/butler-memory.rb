# The formula for a tap: `brew install OWNER/tap/butler-memory`. For a release, replace OWNER, the version and the checksums
# (SHA256SUMS of the release).
class ButlerMemory < Formula
  desc "Long-term memory for LLM agents, served over MCP"
  homepage "https://github.com/OWNER/butler-memory"
  version "0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  # uv fetches PostgreSQL and the embedding model at the first start.
  depends_on "uv"

  base = "https://github.com/OWNER/butler-memory/releases/download/v#{version}/butler-#{version}"
  on_macos do
    on_arm do
      url "#{base}-aarch64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "#{base}-x86_64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end
  on_linux do
    on_arm do
      url "#{base}-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "#{base}-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  def install
    bin.install "butler"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/butler.bash" => "butler"
    zsh_completion.install "completions/_butler"
    fish_completion.install "completions/butler.fish"
  end

  service do
    run [opt_bin/"butler", "serve"]
    keep_alive true
    log_path var/"log/butler.log"
    error_log_path var/"log/butler.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/butler --version")
  end
end
