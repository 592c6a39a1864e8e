# Streams a URL to stdout: first a line with the offset of the first byte sent, then the bytes.
# Arguments: URL, the offset to continue at, a certificate bundle or "", a proxy or "".
# Exit status: 0 all sent, 3 the connection failed or broke off, 4 the server refused, 5 nothing beyond the offset.
import ssl, sys, urllib.error, urllib.request

url, offset, bundle, proxy = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]


def context():
    if bundle:
        return ssl.create_default_context(cafile=bundle)
    ctx = ssl.create_default_context()
    try:  # pip's certificates, for Python builds that have none
        from pip._vendor import certifi

        ctx.load_verify_locations(cafile=certifi.where())
    except Exception:
        pass
    return ctx


def main():
    handlers = [urllib.request.HTTPSHandler(context=context())]
    if proxy:
        handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
    request = urllib.request.Request(url, headers={"User-Agent": "butler", "Accept-Encoding": "identity"})
    if offset:
        request.add_header("Range", "bytes=%d-" % offset)
    out = sys.stdout.buffer
    with urllib.request.build_opener(*handlers).open(request, timeout=60) as answer:
        partial = getattr(answer, "status", None) == 206
        out.write(b"%d\n" % (offset if partial else 0))
        length = answer.headers.get("Content-Length")
        sent = 0
        while True:
            chunk = answer.read(1 << 16)
            if not chunk:
                break
            out.write(chunk)
            out.flush()
            sent += len(chunk)
    if length is not None and sent < int(length):
        sys.stderr.write("the connection broke off after %d of %s bytes" % (sent, length))
        return 3
    return 0


try:
    sys.exit(main())
except urllib.error.HTTPError as error:
    sys.stderr.write("the server answered %d %s" % (error.code, error.reason))
    sys.exit(5 if error.code == 416 else 4)
except BrokenPipeError:
    sys.exit(1)
except Exception as error:
    sys.stderr.write("%s: %s" % (type(error).__name__, error))
    sys.exit(3)
