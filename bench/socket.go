//go:build linux

package main

import (
	"context"
	"os"

	sidecar "code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
)

// connect is how an editor reaches a workspace's sidecar: by the channel, without MCP.
func connect(binary, ws string) (*sidecar.Client, error) {
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	return sidecar.Connect(context.Background(), ws, sidecar.Options{Name: "bench", Program: binary, Build: protocol.Build{Version: "dev", Time: info.ModTime()}})
}

func request(language, code string) protocol.RunRequest {
	return protocol.RunRequest{RunParams: protocol.RunParams{Language: language, Code: code}}
}

// overSocket is a run of the shortest program over the channel.
func overSocket(binary, ws, language string) (call func() error, end func(), err error) {
	c, err := connect(binary, ws)
	if err != nil {
		return nil, nil, err
	}
	return func() error {
		_, err := c.Run(context.Background(), request(language, shortest[language]), nil, sidecar.Watch{})
		return err
	}, c.Close, nil
}
