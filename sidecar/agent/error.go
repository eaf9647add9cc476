package agent

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the closed set of reasons why the agent did not do what was asked.
// It is safe as a metric label.
type Code string

// Codes that the client side finds out by itself.
const (
	// CodeUnreachable: nobody listens on the socket, or the connection broke
	// before the answer. Usual while the workload container (re)starts.
	CodeUnreachable Code = "unreachable"
	// CodeTimeout: the agent did not answer within the context's deadline.
	CodeTimeout Code = "timeout"
	// CodeCanceled: the context was cancelled.
	CodeCanceled Code = "canceled"
	// CodeProtocol: the answer makes no sense. Whoever listens is no agent.
	CodeProtocol Code = "protocol"
	// CodeClosed: Close was called before the process had ended.
	CodeClosed Code = "closed"
)

// Codes that the agent answers with.
const (
	// CodeVersion: the agent speaks another version of the control protocol.
	CodeVersion Code = "version"
	// CodeMalformed: the request breaks a rule of the control protocol.
	CodeMalformed Code = "malformed"
	// CodeLimit: as many processes or connections as the agent allows. A
	// process counts until the last member of its group is gone.
	CodeLimit Code = "limit"
	// CodeKeyInUse: a process with this key is alive or being ended.
	CodeKeyInUse Code = "key_in_use"
	// CodeStopping: the container is being terminated.
	CodeStopping Code = "stopping"
	// CodeArgv: argv was given but the agent was not started with --exec (O11).
	CodeArgv Code = "argv_not_allowed"
	// CodeNotFound: the command does not exist in the image, or its
	// interpreter (the #! line, the dynamic loader) does not.
	CodeNotFound Code = "not_found"
	// CodePermission: the command is there but may not be executed.
	CodePermission Code = "permission"
	// CodeCwd: the working directory is missing or may not be entered.
	CodeCwd Code = "cwd"
	// CodeExec: the kernel refused to start the command for another reason
	// (wrong architecture, no memory, process limit of the container).
	CodeExec Code = "exec"
)

// maxDetail bounds, in bytes, what the agent may say.
const maxDetail = 512

// Error is the only error type of this package.
type Error struct {
	Code Code
	// Detail is a sentence for people. With CodeNotFound and the like it names
	// the command; it holds no environment.
	Detail string
	// Err is the cause on this side of the socket, or nil.
	Err error
}

func (e *Error) Error() string {
	switch {
	case e.Detail == "" && e.Err == nil:
		return "agent: " + string(e.Code)
	case e.Err == nil:
		return fmt.Sprintf("agent: %s: %s", e.Code, e.Detail)
	case e.Detail == "":
		return fmt.Sprintf("agent: %s: %v", e.Code, e.Err)
	}
	return fmt.Sprintf("agent: %s: %s: %v", e.Code, e.Detail, e.Err)
}

// Unwrap gives the local cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of err, or "" if err is nil or from elsewhere.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// refusal makes an error of the agent's answer. The workload could answer in
// the agent's place, so the code must be one of ours and the text is bounded.
func refusal(code, message string) *Error {
	switch c := Code(code); c {
	case CodeVersion, CodeMalformed, CodeLimit, CodeKeyInUse, CodeStopping,
		CodeArgv, CodeNotFound, CodePermission, CodeCwd, CodeExec:
		if len(message) > maxDetail {
			message = strings.ToValidUTF8(message[:maxDetail], "")
		}
		return &Error{Code: c, Detail: message}
	}
	return &Error{Code: CodeProtocol, Detail: "the agent refuses for a reason unknown to this side"}
}
