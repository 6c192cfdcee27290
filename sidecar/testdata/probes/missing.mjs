import "no-such-package"; console.log(1)
