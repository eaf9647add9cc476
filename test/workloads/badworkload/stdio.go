package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// longLine is the length of the line that is too long.
const longLine = 100 << 20

// serveStdio serves until its input ends. Modes:
//
//	exits-on-probe  ends with 1 at server/discover
//	garbage         writes text that is no message before each answer
//	long-line       answers with a line of 100 MB
//	wrong-id        answers with an id that nobody used
//	twice           answers twice
//	leaves-children starts a process that ignores everything, and answers
//	deaf            reads nothing more
//	dies            answers and ends with 1
//	stops           it stops itself (SIGSTOP)
//	asks            it asks for sampling, which the client did not declare, and tells how that went
func serveStdio(mode string) error {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		switch {
		case mode == "exits-on-probe" && m.Method == "server/discover":
			os.Exit(1)
		case mode == "garbage":
			fmt.Println("DEBUG: handling", m.Method)
			fmt.Println(m.result())
		case m.bad():
			if err := misbehave(mode, &m, in); err != nil {
				return err
			}
		default:
			if answer := m.result(); answer != "" {
				fmt.Println(answer)
			}
		}
	}
}

func misbehave(mode string, m *message, in *bufio.Reader) error {
	switch mode {
	case "long-line":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
		chunk := strings.Repeat("x", 1<<20)
		for range longLine >> 20 {
			if _, err := io.WriteString(os.Stdout, chunk); err != nil {
				return err
			}
		}
		fmt.Println(`"}]}}`)
	case "wrong-id":
		m.ID = json.RawMessage(`"nobody's"`)
		fmt.Println(m.result())
	case "exits-on-probe":
		fmt.Println(m.result())
	case "twice":
		fmt.Println(m.result())
		fmt.Println(m.result())
	case "leaves-children":
		child := exec.Command("sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			return err
		}
		m.Params.Name = fmt.Sprint(child.Process.Pid)
		fmt.Println(m.result())
	case "deaf":
		time.Sleep(time.Hour)
	case "dies":
		fmt.Println(m.result())
		os.Exit(1)
	case "stops":
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "asks":
		return ask(m, in)
	default:
		return fmt.Errorf("no mode %q", mode)
	}
	return nil
}

// ask asks the client's model and answers the call with what came back.
func ask(m *message, in *bufio.Reader) error {
	fmt.Println(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var answer struct{ Error *struct{ Code int } }
	if err := json.Unmarshal(line, &answer); err != nil {
		return err
	}
	m.Params.Name = "answered"
	if answer.Error != nil {
		m.Params.Name = fmt.Sprintf("refused %d", answer.Error.Code)
	}
	fmt.Println(m.result())
	return nil
}
