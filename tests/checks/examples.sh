#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run-examples: transcripts that hold and transcripts that do not.
. "$(dirname "$0")/lib.bash"

try()
{
	plant page.md <<<"$1"
}
try '```console
$ printf "a\nb\nc\n" | \
  cat
a
...
c
$ touch made-here
```
text
```console sample
$ ls; date
```
```sh
false
```'
accepts run-examples "$tree/page.md"
try '```console
$ echo right
wrong
```'
refuses 'page.md:1: $ echo right' run-examples "$tree/page.md"
try '```console sample
$ false
```'
refuses 'exit status 1' run-examples "$tree/page.md"
finish
