package main

import (
	"fmt"
	"os"
)

// journal is a file that all processes of a workload write to, a line per
// execution of a tool: its token, the tool, the process. Each line is one write
// in append mode, so that lines of several processes never mix and a process
// that is killed leaves whole lines.
type journal struct{ file *os.File }

func openJournal(name string) (*journal, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{f}, nil
}

// executed notes that a tool does its work now.
func (j *journal) executed(tool, token string) error {
	_, err := fmt.Fprintf(j.file, "%s %s %d\n", token, tool, os.Getpid())
	return err
}

func (j *journal) close() error { return j.file.Close() }
