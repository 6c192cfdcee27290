process.stdout.write("x".repeat(200000) + "\n"); setImmediate(() => { process.stderr.write("y".repeat(100000)); process.exitCode = 3 })
