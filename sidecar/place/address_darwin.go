package place

import (
	"fmt"

	"code.sidecar.dev/sidecar/protocol"
)

// longest is how long a socket's path may be: sun_path has 104 bytes with its end (unix(4) of macOS and the BSDs).
const longest = 103

func address(path string) (name string, done func(), err error) {
	if len(path) > longest {
		return "", nil, &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("the path of the socket, %s, has %d bytes; the system allows %d", path, len(path), longest),
			Hint: "set XDG_STATE_HOME to a shorter path"}
	}
	return path, func() {}, nil
}
