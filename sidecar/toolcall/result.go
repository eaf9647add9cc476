package toolcall

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/client"
)

// Print writes what a tool said as text, a line for what is none. Structured
// output shows where there is no text that repeats it.
func Print(w io.Writer, r *client.ToolResult) error {
	text := false
	for _, block := range r.Content {
		text = text || block.Type == "text"
		if _, err := fmt.Fprintln(w, Line(block)); err != nil {
			return err
		}
	}
	if !text && r.Structured != nil {
		_, err := fmt.Fprintf(w, "%s\n", r.Structured)
		return err
	}
	return nil
}

// Line is one block of content for a terminal: text as it is, without what
// would steer the terminal, anything else in brackets.
func Line(block client.Content) string {
	size := func(data string) int { return base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(data, "="))) }
	switch block.Type {
	case "text":
		return Printable(block.Text)
	case "resource_link":
		return fmt.Sprintf("[link %s]", Printable(block.URI))
	case "resource":
		if r := block.Resource; r != nil && r.Blob == "" {
			return fmt.Sprintf("[resource %s]\n%s", Printable(r.URI), Printable(r.Text))
		} else if r != nil {
			return fmt.Sprintf("[resource %s, %s, %d bytes]", Printable(r.URI), Printable(r.MIMEType), size(r.Blob))
		}
	case "image", "audio":
		return fmt.Sprintf("[%s, %s, %d bytes]", block.Type, Printable(block.MIMEType), size(block.Data))
	}
	return fmt.Sprintf("[%s]", Printable(block.Type))
}

// Printable takes control characters out of a server's words, but for line ends
// and tabs: a terminal would obey them.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
}
