# Keeps a Ruby: evaluates the calls of a session at the top level, one after another. See package session.
lambda do |top|
  place = '/run/sidecar/calls/'
  own = __FILE__
  pid = Process.pid
  main = Thread.current
  requests = File.open(place + 'requests')
  answers = File.open(place + 'answers', 'w')
  answers.sync = true
  late = { 1 => STDOUT.dup, 2 => STDERR.dup } # what is printed while no call goes on, or by a thread of an earlier one
  late.each_value { |io| io.sync = true }
  live = busy = false
  old = []

  { 1 => STDOUT, 2 => STDERR }.each do |fd, io|
    io.define_singleton_method(:write) do |*all|
      live && !old.include?(Thread.current) ? super(*all) : late[fd].write(*all)
    end
  end
  # By a path, which leaves the object what it is.
  redirect = lambda do |out, err|
    STDOUT.reopen(out, 'w')
    STDERR.reopen(err, 'w')
  end
  show = lambda do |e|
    e.set_backtrace(e.backtrace.reject { |line| line.start_with?(own + ':') }) if e.backtrace
    text = e.full_message(highlight: false, order: :top)
    STDERR.write(text.end_with?("\n") ? text : text + "\n")
  end

  serve = lambda do |n, word, pipes, input, count, dir, *rest|
    answer = ->(what) { answers.syswrite("\n#{word} #{what}\n") } # on a line of its own, whatever stands there
    path = "#{place}#{n}.rb"
    redirect.call("#{place}#{pipes}.out", "#{place}#{pipes}.err")
    STDIN.reopen("#{place}#{n}.in") if input == 'in'
    answer.call('begun')
    dir, *rest = [dir, *rest].map { |field| [field[1..-1]].pack('H*').force_encoding(Encoding.default_external) }
    ARGV.replace(rest.shift(count.to_i))
    rest.each_slice(2) { |name, value| ENV[name] = value }
    old = Thread.list - [main]
    live = true
    kind, status = 'done', 0
    begin
      begin
        busy = true
        Dir.chdir(dir) unless dir.empty?
        $0 = path
        value = eval(File.read(path).sub(/^__END__$.*/m, ''), top, path, 1)
        $stdout.puts(value.inspect) unless value.nil?
      ensure
        busy = false
      end
    rescue SystemExit => e
      kind, status = 'exit', e.status
    rescue Interrupt
      kind, status = 'interrupted', 130
    rescue Exception => e # rubocop:disable Lint/RescueException
      status = 1
      show.call(e)
    end
    exit(status) if Process.pid != pid # a fork that came back here
    if kind == 'exit' # what is done at the end is still the call's
      answer.call("exit #{status & 255}")
      exit(status)
    end
    [STDOUT, STDERR].each(&:flush)
    live = false
    redirect.call("/proc/self/fd/#{late[1].fileno}", "/proc/self/fd/#{late[2].fileno}")
    STDIN.reopen('/dev/null') if input == 'in'
    answer.call("#{kind} #{status}")
  end

  trap('INT') { raise Interrupt, '' if busy }
  STDIN.reopen('/dev/null')
  answers.syswrite("ready\n")
  while (line = requests.gets("\n"))
    serve.call(*line.chomp("\n").split(' '))
  end
end.call(TOPLEVEL_BINDING)
