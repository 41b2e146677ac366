# SPDX-License-Identifier: MIT OR Apache-2.0
# One line per setting, its key first.
"$TACHO" help --settings >table || exit
grep -c . table | sed 's/^[1-9][0-9]*$/some/'
awk '{ print $1 }' table | sort -c && echo sorted
grep '^counters_rate ' table
