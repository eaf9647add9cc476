package supervisor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

// KeyVariable carries the process key in every child's environment.
const KeyVariable = "FAIRLEAD_PROCESS"

// defaultPath is used when neither image nor user has a PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is the child's: the container's own, which is what the user set
// and the kubelet adds, then the request's, which wins. Each name is there
// once, so that no two readers see different values. The key comes first.
func environment(container []string, request map[string]string, key string) []string {
	env := []string{KeyVariable + "=" + key}
	for i, pair := range container {
		name, _, ok := strings.Cut(pair, "=")
		if !ok || name == "" || name == KeyVariable {
			continue
		}
		if _, ok := request[name]; ok || has(container[i+1:], name) {
			continue
		}
		env = append(env, pair)
	}
	names := make([]string, 0, len(request))
	for name := range request {
		if name != KeyVariable {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		env = append(env, name+"="+request[name])
	}
	if !has(env, "PATH") {
		env = append(env, "PATH="+defaultPath)
	}
	return env
}

func has(env []string, name string) bool {
	return slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
}

// executable finds the file to execute for name, as a shell would in the
// child's own PATH and working directory.
func executable(name string, env []string, cwd string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil // relative to cwd: the kernel resolves it after chdir
	}
	path := ""
	for _, pair := range env {
		if v, ok := strings.CutPrefix(pair, "PATH="); ok {
			path = v
		}
	}
	denied := false
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if dir == "" {
			file = "./" + name
		}
		switch err := runnable(in(cwd, file)); {
		case err == nil:
			return file, nil
		case errors.Is(err, unix.EACCES):
			denied = true
		}
	}
	if denied {
		return "", refuse(agent.CodePermission, "command %.200q is in PATH but may not be executed by uid %d", name, unix.Getuid())
	}
	return "", refuse(agent.CodeNotFound, "command %.200q is not in PATH", name)
}

// in makes a path that the agent can look at from one the child will use.
func in(cwd, path string) string {
	if filepath.IsAbs(path) || cwd == "" {
		return path
	}
	return filepath.Join(cwd, path)
}

func runnable(file string) error {
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return unix.ENOENT // a directory called like the command is none
	}
	return unix.Access(file, unix.X_OK)
}

// enterable checks a working directory, whose error execve would not tell from
// the command's.
func enterable(cwd string) error {
	if cwd == "" {
		return nil
	}
	var st unix.Stat_t
	err := unix.Stat(cwd, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = unix.ENOTDIR
	}
	if err == nil {
		err = unix.Access(cwd, unix.X_OK)
	}
	if err != nil {
		return refuse(agent.CodeCwd, "working directory %.200q: %v", cwd, err)
	}
	return nil
}

// execError words what execve said about path.
func execError(err error, path, cwd string) error {
	switch {
	case errors.Is(err, unix.ENOENT) && runnable(in(cwd, path)) == nil:
		return refuse(agent.CodeNotFound, "%.200q is there, but the interpreter it names is not in the image", path)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return refuse(agent.CodeNotFound, "command %.200q does not exist in the image", path)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return refuse(agent.CodePermission, "command %.200q may not be executed by uid %d", path, unix.Getuid())
	case errors.Is(err, unix.ENOEXEC):
		return refuse(agent.CodeExec, "%.200q is no program of this machine's architecture, nor a script with a #! line", path)
	}
	return refuse(agent.CodeExec, "cannot execute %.200q: %v", path, err)
}

func refuse(code agent.Code, format string, args ...any) error {
	return &agent.Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}
