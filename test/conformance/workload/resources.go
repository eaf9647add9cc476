package workload

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/server"
)

// watched is the resource that changes.
const watched = "test://watched-resource"

func (w *Workload) addResources() error {
	s := w.Server
	const template = "test://template/{id}/data"
	return errors.Join(
		s.AddResource(server.Resource{
			URI: "test://static-text", Name: "Static text", Description: "A text that never changes", MIMEType: "text/plain",
		}, textOf("This is the content of the static text resource.")),
		s.AddResource(server.Resource{
			URI: "test://static-binary", Name: "Static picture", Description: "A picture that never changes", MIMEType: "image/png",
		}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
			return server.BlobResource("image/png", picture()), nil
		}),
		s.AddResource(server.Resource{
			URI: watched, Name: "Watched text", Description: "A text that can be subscribed to", MIMEType: "text/plain",
		}, textOf("Watched resource content")),
		s.AddResource(server.Resource{
			URI: "test://example-resource", Name: "Example text", Description: "A text that prompts embed", MIMEType: "text/plain",
		}, textOf("Embedded resource content for testing.")),
		s.AddTemplate(server.Template{
			URITemplate: template, Name: "Data by id", Description: "Data made of the id in its URI", MIMEType: "application/json",
		}, func(_ *server.Context, r server.ReadRequest) (server.ResourceOutcome, error) {
			id := r.Vars["id"]
			return server.TextResource("application/json", fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id)), nil
		}),
		s.AddCompletion(server.TemplateRef(template), "id", func(_ *server.Context, r server.CompleteRequest) (server.Completion, error) {
			return server.Completion{Values: beginning(r.Value, "123", "124", "456")}, nil
		}),
	)
}

func textOf(text string) server.ResourceHandler {
	return func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
		return server.TextResource("text/plain", text), nil
	}
}

// beginning returns the values that begin like what was typed.
func beginning(typed string, values ...string) []string {
	var out []string
	for _, v := range values {
		if strings.HasPrefix(v, typed) {
			out = append(out, v)
		}
	}
	return out
}
