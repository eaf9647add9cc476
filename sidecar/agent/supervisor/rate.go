package supervisor

import "time"

// bucket is a token bucket. Not for concurrent use.
type bucket struct {
	perSecond, burst float64
	level            float64
	at               time.Time
}

func newBucket(perSecond, burst float64) bucket {
	return bucket{perSecond: perSecond, burst: burst, level: burst}
}

// take takes n tokens if they are there at the time now.
func (b *bucket) take(n float64, now time.Time) bool {
	if !b.at.IsZero() {
		b.level = min(b.burst, b.level+now.Sub(b.at).Seconds()*b.perSecond)
	}
	b.at = now
	if b.level < n {
		return false
	}
	b.level -= n
	return true
}
