// Command shim is nothing but the shim, for the tests of the sandbox.
package main

import _ "code.sidecar.dev/sandbox/shim"

func main() {}
