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

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// longLine is the length of the line that is too long.
const longLine = 100 << 20

// stdio serves until its input ends. Modes:
//
//	exits-on-probe  ends with 1 at the first message of the other era
//	silent          reads everything and never says a word
//	garbage         writes text that is no message before each answer
//	long-line       answers with a line of 100 MB
//	wrong-id        answers with an id that nobody used
//	twice           answers twice
//	leaves-children starts two processes that ignore everything, one in a
//	                session of its own, and answers
//	deaf            reads nothing more
//	dies            answers and ends with 1
//	stops           it stops itself (SIGSTOP)
//	asks            it asks for sampling, which the client did not declare, and tells how that went
func (s *server) stdio(mode string) error {
	in := bufio.NewReader(record.Reader(os.Stdin, record.Theirs, s.log))
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
		case mode == "silent":
		case mode == "exits-on-probe" && m.Method == map[bool]string{true: "initialize", false: "server/discover"}[s.modern]:
			os.Exit(1)
		case mode == "garbage":
			fmt.Println("DEBUG: handling", m.Method)
			fmt.Println(s.result(&m))
		case m.bad():
			if err := s.misbehave(mode, &m, in); err != nil {
				return err
			}
		default:
			if answer := s.result(&m); answer != "" {
				fmt.Println(answer)
			}
		}
	}
}

func (s *server) misbehave(mode string, m *message, in *bufio.Reader) error {
	switch mode {
	case "long-line":
		return endless(os.Stdout, m)
	case "wrong-id":
		m.ID = json.RawMessage(`"nobody's"`)
		fmt.Println(s.result(m))
	case "exits-on-probe":
		fmt.Println(s.result(m))
	case "twice":
		fmt.Println(s.result(m))
		fmt.Println(s.result(m))
	case "leaves-children":
		if err := breed(m); err != nil {
			return err
		}
		fmt.Println(s.result(m))
	case "deaf":
		time.Sleep(time.Hour)
	case "dies":
		fmt.Println(s.result(m))
		os.Exit(1)
	case "stops":
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "asks":
		fmt.Println(asking)
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		var answer message
		if err := json.Unmarshal(line, &answer); err != nil {
			return err
		}
		m.told(&answer)
		fmt.Println(s.result(m))
	default:
		return fmt.Errorf("no mode %q", mode)
	}
	return nil
}

// endless writes an answer of 100 MB.
func endless(w io.Writer, m *message) error {
	if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID); err != nil {
		return err
	}
	chunk := strings.Repeat("x", 1<<20)
	for range longLine >> 20 {
		if _, err := io.WriteString(w, chunk); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, `"}]}}`)
	return err
}

// breed starts processes that do not want to end, and answers with their ids.
func breed(m *message) error {
	var pids []string
	for _, apart := range []bool{false, true} {
		child := exec.Command("sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: apart}
		if err := child.Start(); err != nil {
			return err
		}
		pids = append(pids, fmt.Sprint(child.Process.Pid))
	}
	m.Params.Name = strings.Join(pids, " ")
	return nil
}
