# Read by `nim c adapter.nim`. Checks stay on: a failed check is a Defect, which ends the process with a message.
switch("define", "release")
switch("hints", "off")
switch("nimcache", "build/nimcache")
switch("out", "build/adapter")
when NimMajor < 2:
  switch("warning", "LockLevel:off")
