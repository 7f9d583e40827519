# Read by `nim c adapter.nim`. Checks stay on: what they find is told, and no crash.
switch("define", "release")
switch("hints", "off")
switch("nimcache", "build/nimcache")
switch("out", "build/adapter")
when NimMajor < 2:
  switch("warning", "LockLevel:off")
