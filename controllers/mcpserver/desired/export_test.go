package desired

import "github.com/fairlead-dev/fairlead/api/v1alpha1"

// HashedFields are the names in templateFields.
func HashedFields() map[string]bool {
	out := map[string]bool{}
	for _, f := range templateFields(&v1alpha1.McpServer{}) {
		out[f.name] = true
	}
	return out
}
