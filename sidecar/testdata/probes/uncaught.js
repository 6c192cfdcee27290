console.log("before"); function f() { throw new TypeError("uncaught") }
f()
