# Writes archives whose bytes depend on the files alone: names sorted, owner root, times fixed.
#   archive.py tar OUT.tar.gz DIR      archive.py wheel OUT.whl DIR      archive.py sums DIR
import base64, gzip, hashlib, io, os, sys, tarfile, zipfile

EPOCH = 315532800  # 1980, the earliest time that a zip file can hold


def files(top):
    for folder, names, leaves in os.walk(top):
        names.sort()
        for name in sorted(leaves):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, top).replace(os.sep, "/"), path


def mode(path):
    return 0o755 if os.stat(path).st_mode & 0o111 else 0o644


def tar(out, top):
    with open(out, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
            folders = set()
            for name, path in files(top):
                parts = name.split("/")[:-1]
                for depth in range(1, len(parts) + 1):
                    folder = "/".join(parts[:depth])
                    if folder not in folders:
                        folders.add(folder)
                        entry = tarfile.TarInfo(folder)
                        entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, EPOCH
                        archive.addfile(entry)
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = os.path.getsize(path), mode(path), EPOCH
                with open(path, "rb") as content:
                    archive.addfile(entry, content)


def wheel(out, top):
    """A zip file with the RECORD that lists its files."""
    record = []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name, content, permissions):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | permissions) << 16
            archive.writestr(entry, content)

        for name, path in files(top):
            with open(path, "rb") as file:
                content = file.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d" % (name, digest, len(content)))
            add(name, content, mode(path))
            if name.endswith(".dist-info/METADATA"):
                info = name.rsplit("/", 1)[0]
        record.append(info + "/RECORD,,")
        add(info + "/RECORD", "\n".join(record) + "\n", 0o644)


def sums(top):
    lines = io.StringIO()
    for name, path in files(top):
        if name != "SHA256SUMS":
            with open(path, "rb") as file:
                lines.write("%s  %s\n" % (hashlib.sha256(file.read()).hexdigest(), name))
    with open(os.path.join(top, "SHA256SUMS"), "w") as file:
        file.write(lines.getvalue())


{"tar": tar, "wheel": wheel, "sums": sums}[sys.argv[1]](*sys.argv[2:])
