#!/usr/bin/env node
// Runs the program of this platform's package with the same arguments, streams and signals.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `butler-memory-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/butler`);
} catch {
  console.error(`error: the package ${name} is not installed`);
  console.error("hint: install without --omit=optional; there are packages for Linux and macOS on x64 and arm64");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: cannot run ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
