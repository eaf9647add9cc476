package wire

import (
	"errors"
	"fmt"
	"strings"
)

// Validate checks what both sides insist on.
func (s *Start) Validate() error {
	if err := validKey(s.Key); err != nil {
		return err
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env name %.40q is not usable", name)
		}
		if strings.ContainsRune(value, 0) {
			return fmt.Errorf("env %.40q holds a zero byte", name)
		}
	}
	if strings.ContainsRune(s.Cwd, 0) {
		return errors.New("cwd holds a zero byte")
	}
	for i, arg := range s.Argv {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("argv[%d] holds a zero byte", i)
		}
	}
	if len(s.Argv) > 0 && s.Argv[0] == "" {
		return errors.New("argv[0] is empty")
	}
	for _, ms := range []int64{s.StdinMillis, s.TermMillis} {
		if ms < 0 || ms > MaxGraceMillis {
			return fmt.Errorf("a clock of %d ms is outside 0 to %d", ms, MaxGraceMillis)
		}
	}
	return nil
}

func validKey(key string) error {
	if len(key) == 0 || len(key) > MaxKey {
		return fmt.Errorf("key must have 1 to %d characters", MaxKey)
	}
	for _, c := range []byte(key) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return fmt.Errorf("key %.70q has characters outside [A-Za-z0-9_-]", key)
		}
	}
	return nil
}
