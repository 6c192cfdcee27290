// Package proxy is the network of a sandbox: an HTTP and SOCKS5 proxy, DNS, and listeners for programs that know of no
// proxy, all of which lead only where a list of names allows. It runs on the host; the listeners that it is given belong
// to the sandbox's network namespace, which has no other way out.
//
//	rules, err := proxy.AllowMethods(map[string][]string{"example.com": {"GET"}, "git.example.org": {"*"}})
//	filter, err := proxy.New(proxy.Options{Rules: rules, Denied: func(d proxy.Denial) { log.Print(d.Host, d.Why) }})
//	filter.ServeProxy(listener)
//	defer filter.Close()
//
// What is asked for is judged by name and port. The filter resolves the name itself, once, and connects to an address
// that it has judged, too: nothing on the host, in networks around it or in a cloud's metadata is reached unless a
// person named it. A connection's own words are compared with what was judged: the Host of every request, the server
// name of TLS. Where a rule gives methods, TLS is opened with a certificate authority made for the run, and each request
// is judged; elsewhere it passes unopened, and the kernel moves its bytes.
//
// It does not protect against what an allowed server does with what it is sent, nor against a server that serves
// another name than the one in its handshake (domain fronting) where TLS is not opened. In a plain tunnel on a port of
// its own nothing is known of the bytes. A rule for a domain allows its subdomains, so that names under it can carry
// data to whoever answers for that domain. Methods are what a request says: a server that takes GET for a deletion,
// or a field of a form for a method, is not seen through.
package proxy
