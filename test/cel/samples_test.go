package cel

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/fairlead-dev/fairlead/test/testkit"
)

// O23, R11, R24: what users copy from works as it is.
func TestSamplesAreAccepted(t *testing.T) {
	for name, objects := range samples(t, "config/samples/*.yaml") {
		if name == "kustomization" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := strict(t)
			ns := testkit.Namespace(t, c)
			for _, o := range objects {
				o.SetNamespace(ns)
				if err := c.Create(t.Context(), o); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
}

// Each refused sample begins with a comment `# Refused: <text>`; the text must
// be in the server's answer, so that the sample shows what a user will read.
func TestRefusedSamplesAreRefusedWithTheirMessage(t *testing.T) {
	answers := map[string]string{}
	for name, objects := range samples(t, "config/samples/refused/*.yaml") {
		t.Run(name, func(t *testing.T) {
			c := lenient(t)
			ns := testkit.Namespace(t, c)
			if len(objects) != 1 {
				t.Fatalf("%d objects; a refused sample has one", len(objects))
			}
			want := expectedMessage(t, name)
			o := objects[0]
			o.SetNamespace(ns)
			err := c.Create(t.Context(), o)
			if !apierrors.IsInvalid(err) {
				t.Fatalf("created, or refused otherwise than as invalid: %v", err)
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("refused, but not for what the sample says:\n got %s\nwant %s", err, want)
			}
			if causes := causesOf(err); len(causes) != 1 {
				t.Errorf("refused for %d reasons, want the one that it shows:\n%s", len(causes), strings.Join(causes, "\n"))
			}
			answers[name] = err.Error()
		})
	}
	if t.Failed() {
		return
	}
	for where, messages := range ruleMessages(t) {
		for _, m := range messages {
			if !someContains(answers, m) {
				t.Errorf("%s: no sample in config/samples/refused is refused by the rule %q; add one", where, m)
			}
		}
	}
}

func causesOf(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []string
	for _, c := range status.Status().Details.Causes {
		// The server adds this when a value has the wrong form, and checks a
		// scale subresource's replicas once more by itself.
		if strings.Contains(c.Message, "some validation rules were not checked") || c.Field == ".spec.replicas" {
			continue
		}
		out = append(out, c.Field+": "+c.Message)
	}
	return out
}

func someContains(answers map[string]string, text string) bool {
	for _, a := range answers {
		if strings.Contains(a, text) {
			return true
		}
	}
	return false
}

func expectedMessage(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(testkit.Root(t), "config/samples/refused", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "# Refused: ")
	if !ok || len(text) < len("Duplicate value") {
		t.Fatalf("the first line must be `# Refused: ` and the message or its beginning, not %q", line)
	}
	return text
}

// samples reads the objects of each file that matches, by file name.
func samples(t *testing.T, glob string) map[string][]*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), glob))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files match %s: %v", glob, err)
	}
	out := map[string][]*unstructured.Unstructured{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		out[name] = readObjects(t, file)
	}
	return out
}

func readObjects(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		o := &unstructured.Unstructured{}
		switch err := decoder.Decode(o); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatalf("%s: %v", file, err)
		case len(o.Object) > 0:
			out = append(out, o)
		}
	}
}
