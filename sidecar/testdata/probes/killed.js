process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 60000)
