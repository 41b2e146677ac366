# SPDX-License-Identifier: MIT OR Apache-2.0
# The front door: each goal first lets tools/setup install what it needs, then calls CMake or a program in
# tools/. `make help` lists the goals.
PREFIX  ?= /usr/local
DESTDIR ?=
AREA    ?=
TIME    ?= 60

.DEFAULT_GOAL := build
.PHONY: build demo test bench fuzz dist install fmt clean help

build: ## build the tool, the library and the examples into build/dev
	@tools/setup build
	@cmake --preset dev >build/dev.configure 2>&1 || { cat build/dev.configure; exit 1; }
	@cmake --build --preset dev

demo: ## record a real training run and print its report
	@tools/setup demo
	@tools/demo

test: ## run every test and check; the last line is the count
	@tools/setup test
	@tools/run-tests

bench: ## measure against the stated numbers; AREA=NAME for one area
	@tools/setup bench
	@tools/run-bench $(AREA)

fuzz: ## run every fuzzer for TIME seconds (default 60)
	@tools/setup fuzz
	@tools/run-fuzz $(TIME)

dist: ## make the relocatable folder and tarball in dist/
	@tools/setup dist
	@tools/make-dist

install: ## install below PREFIX (default /usr/local), staged in DESTDIR if given
	@tools/setup build
	@cmake --preset release >build/release.configure 2>&1 || { cat build/release.configure; exit 1; }
	@cmake --build --preset release
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

fmt: ## format every source in place
	@tools/check-format --fix

clean: ## remove everything that was built
	rm -rf build dist

help: ## show this text
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

build install: | build/
build/:
	@mkdir -p build
