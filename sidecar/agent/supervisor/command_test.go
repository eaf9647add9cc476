package supervisor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheEnvironmentNamesEachVariableOnce(t *testing.T) {
	tests := map[string]struct {
		container []string
		request   map[string]string
		want      []string
	}{
		"the container's, then the request's": {
			[]string{"PATH=/bin", "A=1"}, map[string]string{"C": "3", "B": "2"},
			[]string{"FAIRLEAD_PROCESS=k", "PATH=/bin", "A=1", "B=2", "C=3"}},
		"the request wins": {
			[]string{"PATH=/bin", "A=1"}, map[string]string{"A": "2"},
			[]string{"FAIRLEAD_PROCESS=k", "PATH=/bin", "A=2"}},
		"the last of the container's wins": {
			[]string{"A=1", "PATH=/bin", "A=2"}, nil,
			[]string{"FAIRLEAD_PROCESS=k", "PATH=/bin", "A=2"}},
		"nobody sets the key": {
			[]string{"FAIRLEAD_PROCESS=x", "PATH=/bin"}, map[string]string{"FAIRLEAD_PROCESS": "y"},
			[]string{"FAIRLEAD_PROCESS=k", "PATH=/bin"}},
		"what is no variable is left out": {
			[]string{"nonsense", "=x", "PATH=/bin"}, nil,
			[]string{"FAIRLEAD_PROCESS=k", "PATH=/bin"}},
		"there is always a PATH": {
			nil, nil,
			[]string{"FAIRLEAD_PROCESS=k", "PATH=" + defaultPath}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, environment(tt.container, tt.request, "k")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
