//go:build linux

package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// bars is a group of bars; line is a line of points.
type (
	bars struct {
		name   string
		names  []string
		values []float64
	}
	point struct{ x, y float64 }
	line  struct {
		name   string
		points []point
	}
)

// colours are of a kind that is told apart also without red and green (Okabe and Ito).
var colours = []string{"#999999", "#56b4e9", "#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7"}

// sheet is a picture being drawn.
type sheet struct {
	strings.Builder
	width, height float64
}

func newSheet(title string, width, height float64) *sheet {
	s := &sheet{width: width, height: height}
	_, _ = fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="system-ui, sans-serif" font-size="13">`+"\n", width, height, width, height)
	_, _ = fmt.Fprintf(s, `<rect width="100%%" height="100%%" rx="8" fill="#ffffff"/>`+"\n")
	s.text(20, 28, "start", "#1a1a1a", title)
	return s
}

func (s *sheet) text(x, y float64, anchor, colour, text string) {
	_, _ = fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, colour, html.EscapeString(text))
}

func (s *sheet) end() string { return s.String() + "</svg>\n" }

// barPlot draws groups of horizontal bars on a logarithmic scale.
func barPlot(title string, groups []bars) string {
	const label, row, gap, right = 250.0, 20.0, 26.0, 70.0
	rows, most, least := 0, 0.0, math.Inf(1)
	for _, g := range groups {
		rows += len(g.values)
		for _, v := range g.values {
			most, least = max(most, v), min(least, v)
		}
	}
	s := newSheet(title, 800, 50+float64(rows)*row+float64(len(groups))*gap)
	from := math.Log10(least) - 0.3
	scale := (s.width - label - right) / (math.Log10(most) - from)
	y := 44.0
	for _, g := range groups {
		y += gap
		s.text(20, y-8, "start", "#555555", g.name)
		for i, v := range g.values {
			s.text(label-8, y+row-6, "end", "#1a1a1a", g.names[i])
			w := (math.Log10(v) - from) * scale
			_, _ = fmt.Fprintf(s, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" fill="%s"/>`+"\n", label, y+2, w, row-5, colours[i%len(colours)])
			s.text(label+w+6, y+row-6, "start", "#1a1a1a", fmt.Sprintf("%.1f", v))
			y += row
		}
	}
	return s.end()
}

// linePlot draws lines over a logarithmic x.
func linePlot(title string, lines []line) string {
	const left, top, right, bottom = 60.0, 50.0, 170.0, 40.0
	s := newSheet(title, 800, 320)
	most, last := 0.0, 1.0
	for _, l := range lines {
		for _, p := range l.points {
			most, last = max(most, p.y), max(last, p.x)
		}
	}
	x := func(v float64) float64 { return left + math.Log2(v)/math.Log2(last)*(s.width-left-right) }
	y := func(v float64) float64 { return s.height - bottom - v/most*(s.height-top-bottom) }
	for i := range 5 {
		v := most * float64(i) / 4
		_, _ = fmt.Fprintf(s, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", left, s.width-right, y(v), y(v))
		s.text(left-8, y(v)+4, "end", "#555555", fmt.Sprintf("%.0f", v))
	}
	for i, l := range lines {
		colour := colours[(i+1)%len(colours)]
		var path strings.Builder
		for _, p := range l.points {
			_, _ = fmt.Fprintf(&path, "%.1f,%.1f ", x(p.x), y(p.y))
			if i == 0 {
				s.text(x(p.x), s.height-bottom+20, "middle", "#555555", fmt.Sprintf("%.0f", p.x))
			}
		}
		_, _ = fmt.Fprintf(s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5"/>`+"\n", path.String(), colour)
		end := l.points[len(l.points)-1]
		s.text(x(end.x)+8, y(end.y)+4+float64(i-1)*2, "start", colour, l.name)
	}
	return s.end()
}
