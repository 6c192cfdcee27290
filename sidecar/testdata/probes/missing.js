require("no-such-package")
