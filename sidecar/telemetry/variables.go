package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings are what the variables come to.
type settings struct {
	traces, metrics target
	service         string
	resource        []attribute
	sampler         sampler
	// delay is how long spans wait for others, interval how often metrics are sent.
	delay, interval time.Duration
}

// target is where one signal goes; without a url it goes nowhere.
type target struct {
	url     string
	headers map[string]string
	gzip    bool
	client  *http.Client
}

const prefix = "OTEL_EXPORTER_OTLP_"

// variables are all that are read.
var variables = func() []string {
	all := []string{"OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_METRIC_EXPORT_INTERVAL"}
	for _, name := range []string{"ENDPOINT", "HEADERS", "TIMEOUT", "COMPRESSION", "CERTIFICATE", "PROTOCOL"} {
		all = append(all, prefix+name, prefix+"TRACES_"+name, prefix+"METRICS_"+name)
	}
	return all
}()

// identity tells apart what variables ask for.
func identity(getenv func(string) string) string {
	var b strings.Builder
	for _, name := range variables {
		b.WriteString(getenv(name) + "\x00")
	}
	return b.String()
}

// read reads the variables. What is wrong is complained of, without values that may be secret, and left out.
func read(getenv func(string) string) (s settings, complaints []string) {
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	millis := func(name string, fallback time.Duration) time.Duration {
		text := getenv(name)
		n, err := strconv.ParseUint(text, 10, 31)
		if text != "" && (err != nil || n == 0) {
			complain("%s is no number of milliseconds", name)
		}
		if err != nil || n == 0 {
			return fallback
		}
		return time.Duration(n) * time.Millisecond //nolint:gosec // 31 bits
	}
	s.delay, s.interval = millis("OTEL_BSP_SCHEDULE_DELAY", 5*time.Second), millis("OTEL_METRIC_EXPORT_INTERVAL", time.Minute)
	for _, pair := range pairs(getenv("OTEL_RESOURCE_ATTRIBUTES"), func() { complain("OTEL_RESOURCE_ATTRIBUTES is no list of name=value") }) {
		if pair[0] == "service.name" {
			s.service = pair[1]
		} else {
			s.resource = append(s.resource, text(pair[0], pair[1]))
		}
	}
	s.service = cmp.Or(getenv("OTEL_SERVICE_NAME"), s.service, "sidecar")
	var err error
	if s.sampler, err = samplerOf(getenv("OTEL_TRACES_SAMPLER"), getenv("OTEL_TRACES_SAMPLER_ARG")); err != nil {
		complain("%v", err)
	}
	signal := func(name, path string) target {
		get := func(what string) string { return cmp.Or(getenv(prefix+name+"_"+what), getenv(prefix+what)) }
		t, err := targetOf(name, path, getenv, get)
		if err != nil {
			complain("%v", err)
			return target{}
		}
		if t.client != nil {
			t.client.Timeout = millis(prefix+name+"_TIMEOUT", millis(prefix+"TIMEOUT", 10*time.Second))
		}
		return t
	}
	s.traces, s.metrics = signal("TRACES", "v1/traces"), signal("METRICS", "v1/metrics")
	return s, complaints
}

// targetOf is where a signal goes. get reads a variable of its own, or of all signals.
func targetOf(name, path string, getenv, get func(string) string) (target, error) {
	exporter := "OTEL_" + name + "_EXPORTER"
	wanted := strings.Split(getenv(exporter), ",")
	if wanted[0] == "" && get("ENDPOINT") == "" {
		return target{}, nil
	}
	if wanted[0] != "" && !slices.Contains(wanted, "otlp") {
		if !slices.Contains(wanted, "none") {
			return target{}, fmt.Errorf("%s names no exporter that sidecar has: it is otlp or none", exporter)
		}
		return target{}, nil
	}
	switch get("PROTOCOL") {
	case "", "http/json", "http/protobuf":
	default:
		return target{}, fmt.Errorf("%sPROTOCOL is none that sidecar speaks: it is OTLP over HTTP, as JSON (http/json)", prefix)
	}
	to, err := url.Parse(cmp.Or(getenv(prefix+"ENDPOINT"), "http://localhost:4318"))
	if own := getenv(prefix + name + "_ENDPOINT"); own != "" {
		to, err = url.Parse(own)
	} else if err == nil {
		to = to.JoinPath(path)
	}
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return target{}, fmt.Errorf("the endpoint for %s is no http or https URL", strings.ToLower(name))
	}
	t := target{url: to.String(), headers: map[string]string{}, gzip: get("COMPRESSION") == "gzip"}
	for _, pair := range pairs(get("HEADERS"), func() { err = fmt.Errorf("%sHEADERS is no list of name=value", prefix) }) {
		t.headers[pair[0]] = pair[1]
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true}
	if file := get("CERTIFICATE"); file != "" && err == nil {
		roots := x509.NewCertPool()
		pem, failed := os.ReadFile(file)
		if failed != nil || !roots.AppendCertsFromPEM(pem) {
			return target{}, fmt.Errorf("%sCERTIFICATE names no file with certificates", prefix)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	t.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return t, err
}

// pairs reads name=value,name=value, where values are as in URLs (W3C Baggage); wrong is called when it is none.
func pairs(list string, wrong func()) (out [][2]string) {
	for _, pair := range strings.Split(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" {
			wrong()
			return nil
		}
		out = append(out, [2]string{name, value})
	}
	return out
}
