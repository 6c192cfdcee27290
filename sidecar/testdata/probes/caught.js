process.on("SIGTERM", () => { console.log("caught"); process.exit(4) }); process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)
process.once("beforeExit", () => console.log("before exit"))
