Promise.reject(new Error("unhandled"))
