#!/usr/bin/env node
process.emitWarning("careful"); new Buffer(1); console.trace("here"); console.log(new Error("x").stack)
