// Command testworkload is an MCP server for tests: well-behaved by default, and
// wrong on demand in the ways real servers are. It speaks the revisions with
// sessions, over stdio and streamable HTTP, by a small loop of its own: no SDK,
// and nothing of the code under test. It can write down what is said.
//
//	testworkload serve [flags]        stdio
//	testworkload serve-http [flags]   streamable HTTP at /mcp, with /healthz
//	testworkload hang                 ignores TERM for an hour; what the tool spawn starts
//
// The tools are in tools.go, the misbehaviours are the flags.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// options are the flags of both servers.
type options struct {
	revision         string
	startDelay       time.Duration
	instructions     int
	refuseBefore     bool
	noResult         bool // silent
	idsAsStrings     bool
	badUTF8          bool
	crlf             bool
	garbageFirst     bool
	exit             int
	dieOnCancel      bool
	stderrAtStart    int
	listen           string
	port             string
	healthFile       string
	exactHost        bool
	stateless        bool
	answerJSON       bool
	answerWithStatus int
	journalFile      string
	journal          *os.File
	recordFile       string
	record           *record.Log
}

// openJournal opens the file that executions of tools are noted in, if one was
// asked for. All processes of a workload may have the same: each line is one
// write in append mode.
func (o *options) openJournal() (err error) {
	if o.journalFile != "" {
		o.journal, err = os.OpenFile(o.journalFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	return err
}

// openRecord opens the file that messages are written down in, if one was asked
// for. Each line is written at once, and the end of the process closes it.
func (o *options) openRecord() (err error) {
	o.record = &record.Log{} // discards
	if o.recordFile != "" {
		o.record, err = record.Create(o.recordFile)
	}
	return err
}

func (o *options) common(fs *flag.FlagSet) {
	fs.StringVar(&o.revision, "revision", "", "answer initialize with this revision, whatever was asked")
	fs.DurationVar(&o.startDelay, "start-delay", 0, "do nothing before this time has passed")
	fs.IntVar(&o.instructions, "instructions-bytes", 0, "length of the instructions in the answer to initialize (C08)")
	fs.BoolVar(&o.refuseBefore, "before-initialized-refuse", false, "refuse requests before notifications/initialized (C28)")
	fs.BoolVar(&o.noResult, "silent", false, "read everything, answer nothing")
	fs.StringVar(&o.recordFile, "record", "", "file to record all messages in; {pid} becomes the process id")
	fs.StringVar(&o.journalFile, "journal", "", "file to note the text and the tool of each call in")
	fs.BoolVar(&o.dieOnCancel, "die-on-cancel", false, "exit with 1 upon notifications/cancelled (C29)")
}

func (o *options) stdio(fs *flag.FlagSet) {
	o.common(fs)
	fs.BoolVar(&o.idsAsStrings, "ids-as-strings", false, "answer the id 41 as \"41\" (C02)")
	fs.BoolVar(&o.badUTF8, "bad-utf8", false, "the tool echo answers in CP949 (C10)")
	fs.BoolVar(&o.crlf, "crlf", false, "end lines with CR LF and an empty line (C09)")
	fs.BoolVar(&o.garbageFirst, "garbage-first", false, "greet on stdout before the first answer (C07)")
	fs.IntVar(&o.exit, "exit", -1, "exit at once with this status")
	fs.IntVar(&o.stderrAtStart, "stderr-lines", 0, "lines to write to stderr at the start")
}

func (o *options) http(fs *flag.FlagSet) {
	o.common(fs)
	fs.StringVar(&o.listen, "listen", "127.0.0.1", "address to listen on")
	fs.StringVar(&o.port, "port", "", "port; the variable MCP_PORT if empty (C37), else 3000; 0 for any")
	fs.StringVar(&o.healthFile, "health-file", "", "/healthz fails while this file is there")
	fs.BoolVar(&o.exactHost, "exact-host", false, "421 unless Host is 127.0.0.1:PORT or localhost:PORT (C20)")
	fs.BoolVar(&o.stateless, "stateless", false, "give no session id, refuse GET and DELETE")
	fs.BoolVar(&o.answerJSON, "json", false, "answer with JSON where no message comes before the answer")
	fs.IntVar(&o.answerWithStatus, "status", 0, "answer each POST with this status and no body")
}

func main() {
	command, args := "", os.Args[1:]
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	var o options
	fs := flag.NewFlagSet("testworkload "+command, flag.ExitOnError)
	serve := serveStdio
	switch command {
	case "serve":
		o.stdio(fs)
	case "serve-http":
		o.http(fs)
		serve = serveHTTP
	case "hang":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		time.Sleep(time.Hour)
		return
	default:
		fmt.Fprintln(os.Stderr, "usage: testworkload serve|serve-http|hang [flags]")
		os.Exit(2)
	}
	_ = fs.Parse(args) // exits by itself
	if fs.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "testworkload: what is %q?\n", fs.Args())
		os.Exit(2)
	}
	if err := o.openJournal(); err != nil {
		fmt.Fprintln(os.Stderr, "testworkload:", err)
		os.Exit(1)
	}
	if err := o.openRecord(); err != nil {
		fmt.Fprintln(os.Stderr, "testworkload:", err)
		os.Exit(1)
	}
	time.Sleep(o.startDelay)
	if err := serve(o); err != nil {
		fmt.Fprintln(os.Stderr, "testworkload:", err)
		os.Exit(1)
	}
}
