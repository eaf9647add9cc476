package streamable

import (
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/envelope"
)

// lookup finds the session that the request names. Everything that keeps it
// from being found looks the same (B0.6).
func (q *request) lookup() (*dispatch.Legacy, bool) {
	handle, err := q.s.Keys.OpenSession(q.field(headerSession), q.principal)
	if err != nil {
		return nil, false
	}
	key := keyOf(handle.Random)
	sess, ok := q.s.sessions.Find(string(key[:]), q.principal)
	if !ok {
		q.s.Keys.ForgetSession(handle.Random) // opening the id has made it remembered again
		return nil, false
	}
	l, ok := sess.Owner().(*dispatch.Legacy)
	return l, ok
}

// keyOf is a session's key in the registry, as bytes because most keys are only
// looked for.
func keyOf(random seal.Random) (key [2 * len(seal.Random{})]byte) {
	hex.Encode(key[:], random[:])
	return key
}

// session finds the session of a legacy request, or says what is wrong: 400
// without an id (W10.5), 404 for an unknown one (W10.6), 400 for a version
// header that no session can have (W11.3).
func (q *request) session(id jsonrpc.ID) (*dispatch.Legacy, *refusal) {
	if header := q.field(headerVersion); header != "" {
		if p, known := mcp.Lookup(header); (!known || !p.Handshake) && !broken.Rule("W11.3") {
			return nil, invalid(http.StatusBadRequest, hook.RejectRevision, "protocol version is not supported").about(id)
		}
	}
	if q.field(headerSession) == "" {
		if len(q.settings.Revisions.Legacy()) == 0 {
			return nil, missingEnvelope(id) // W14.16
		}
		return nil, invalid(http.StatusBadRequest, hook.RejectSession, "Mcp-Session-Id is required").about(id)
	}
	if l, ok := q.lookup(); ok {
		return l, nil
	}
	return q.adopt(id)
}

func sessionUnknown(id jsonrpc.ID) *refusal {
	if broken.Rule("W10.6") {
		return invalid(http.StatusBadRequest, hook.RejectSession, "session not found").about(id)
	}
	return invalid(http.StatusNotFound, hook.RejectSession, "session not found").about(id)
}

// inbound takes a notification or a response of a legacy client (W8.3).
func (p *posted) inbound() *refusal {
	l, refusal := p.session(jsonrpc.ID{})
	if refusal != nil {
		return refusal
	}
	if !l.Enter() {
		return sessionUnknown(jsonrpc.ID{})
	}
	defer l.Leave()
	l.Receive(p.msg, p.identity)
	p.Accepted()
	return nil
}

// legacyRequest serves a request on a session. Errors travel in a 200
// (W16.4).
func (p *posted) legacyRequest() (kept bool, refusal *refusal) {
	l, refusal := p.session(p.msg.ID)
	if refusal != nil {
		return false, refusal
	}
	req := p.request.legacyRequest(l, p.msg)
	if o, answered := p.s.dispatcher.Answer(p.r.Context(), req); answered {
		p.used(l)
		p.answer(encode(p.msg.ID, o))
		return false, nil
	}
	method, _ := l.Profile().Method(p.msg.Method)
	return p.run(req, method, p.s.serve)
}

// legacyRequest makes the dispatcher's request of a message on a session.
func (q *request) legacyRequest(l *dispatch.Legacy, m *jsonrpc.Message) dispatch.Request {
	return dispatch.Request{
		Msg: m, Profile: l.Profile(), Session: l, Principal: l.Principal(), Identity: q.identity, Caller: q,
		ClientCapabilities: l.ClientCapabilities(), ClientInfo: l.ClientInfo(),
	}
}

// used resets the session's idle clock.
func (p *posted) used(l *dispatch.Legacy) {
	if l.Enter() {
		l.Leave()
	}
}

// initialize opens a session. The version header and a stale session id mean
// nothing here (R3).
func (p *posted) initialize() (kept bool, refusal *refusal) {
	if p.s.draining.Load() {
		return false, unavailable(hook.RejectDraining, "shutting down").about(p.msg.ID)
	}
	requested, _ := strictjson.Get(p.msg.Params, "protocolVersion")
	text, _ := strictjson.String(requested)
	profile, ok := p.settings.Revisions.Negotiate(text)
	if !ok {
		return false, p.unsupported(text)
	}
	capabilities, info, bad := envelope.Introduction(p.msg.Params)
	if bad != nil {
		p.answer(jsonrpc.EncodeError(p.msg.ID, bad))
		return false, nil
	}
	random := seal.NewRandom()
	key := keyOf(random)
	id, err := p.s.Keys.SealSession(seal.Session{
		Kind: seal.KindStateful, Revision: profile.Revision, Pod: p.s.Pod, Epoch: p.s.Epoch, Random: random,
	}, p.principal)
	if err != nil {
		return false, unavailable(hook.RejectSession, "no key for session ids").about(p.msg.ID)
	}
	sess, err := p.s.sessions.New(session.Params{
		Key: string(key[:]), Principal: p.principal, Profile: profile,
		Capabilities: capabilities, ClientInfo: info,
	})
	if err != nil {
		reason := hook.RejectSessionLimit
		if errors.Is(err, session.ErrStopped) {
			reason = hook.RejectDraining
		}
		return false, unavailable(reason, err.Error()).about(p.msg.ID)
	}
	l := p.s.dispatcher.Adopt(sess)
	p.W.Header().Set(headerSession, id)
	return p.open(l)
}
