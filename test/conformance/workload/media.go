package workload

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
)

// picture is one red pixel.
func picture() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.RGBA{R: 0xff, A: 0xff})
	var b bytes.Buffer
	_ = png.Encode(&b, img) // into memory, of a picture that can be encoded
	return b.Bytes()
}

// sound is a hundredth of a second of silence: WAVE, PCM, mono, 16 bit, 8 kHz.
func sound() []byte {
	const (
		rate    = 8000
		samples = rate / 100
		bytes16 = 2
		header  = 36
	)
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, header+samples*bytes16)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16) // bytes that follow
	b = binary.LittleEndian.AppendUint16(b, 1)  // PCM
	b = binary.LittleEndian.AppendUint16(b, 1)  // channel
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*bytes16)
	b = binary.LittleEndian.AppendUint16(b, bytes16)
	b = binary.LittleEndian.AppendUint16(b, 8*bytes16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, samples*bytes16)
	return append(b, make([]byte, samples*bytes16)...)
}
