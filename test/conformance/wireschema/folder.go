package wireschema

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// FolderVariable names the environment variable that says where the schemas
// are: a folder with one folder a revision, each with a schema.json.
const FolderVariable = "FAIRLEAD_MCP_SCHEMA"

// folderName is what Find looks for beside the folders above the repository.
const folderName = "mcp-schema"

// Find returns the folder of the schemas: the variable's, or one called
// mcp-schema in any folder beside the repository or beside the one above it.
// Without one it returns an empty string: the protocol's schemas are its
// authors' to publish.
func Find(root string) (string, error) {
	if dir := os.Getenv(FolderVariable); dir != "" {
		if !isFolder(dir) {
			return "", fmt.Errorf("%s=%s holds no <revision>/schema.json", FolderVariable, dir)
		}
		return dir, nil
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	for range 2 {
		root = filepath.Dir(root)
		found, err := filepath.Glob(filepath.Join(root, "*", folderName))
		if err != nil {
			return "", err
		}
		found = append([]string{filepath.Join(root, folderName)}, found...)
		if i := slices.IndexFunc(found, isFolder); i >= 0 {
			return found[i], nil
		}
	}
	return "", nil
}

func isFolder(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "*-*-*", "schema.json"))
	return len(found) > 0
}
