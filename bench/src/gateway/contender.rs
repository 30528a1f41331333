use super::report::Path;
use anyhow::Context;
use std::fs;
use std::net::TcpStream;
use std::path::Path as File;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tollgate_testkit::{Process, envoy, free_port};

/// Who takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Nginx,
    LimitReq,
    /// As it comes: it writes a line for each request that it refuses.
    LimitReqLogging,
    LuaBucket,
    Lua,
    Haproxy,
    Envoy,
    /// No proxy: what the kernel takes for any that reads once and writes once.
    Kernel,
    Tollgate,
}

impl Kind {
    pub(super) const ALL: [Self; 9] = [
        Self::Nginx,
        Self::LimitReq,
        Self::LimitReqLogging,
        Self::LuaBucket,
        Self::Lua,
        Self::Haproxy,
        Self::Envoy,
        Self::Kernel,
        Self::Tollgate,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx, no limiter",
            Self::LimitReq => "nginx limit_req, its log off",
            Self::LimitReqLogging => "nginx limit_req, as it comes",
            Self::LuaBucket => "nginx + Lua, one bucket",
            Self::Lua => "nginx + Lua, three tiers",
            Self::Haproxy => "HAProxy stick table",
            Self::Envoy => "Envoy local rate limit",
            Self::Kernel => "one read and one write, nothing else",
            Self::Tollgate => "Tollgate",
        }
    }

    /// Whether there is something to be seen of it on that path: what does not limit refuses nothing, a log of refusals has
    /// nothing to say about what passes, and what passes takes more than one read and one write.
    pub(super) fn takes(self, path: Path) -> bool {
        match path {
            Path::Allowed => !matches!(self, Self::LimitReqLogging | Self::Kernel),
            Path::Refused => self != Self::Nginx,
        }
    }
}

/// A process of ours in a folder of its own.
struct Housed {
    process: Process,
    home: TempDir,
}

impl Housed {
    fn start(program: &File, arguments: &[&str], home: TempDir, port: u16) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(home.path());
        let process = Process::start_logged(&mut command, &home.path().join("log"))?;
        let housed = Self { process, home };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let said = || fs::read_to_string(housed.home.path().join("log")).unwrap_or_default();
            anyhow::ensure!(
                start.elapsed() < Duration::from_secs(10),
                "{command:?} does not start: {}",
                said()
            );
            thread::sleep(Duration::from_millis(20));
        }
        Ok(housed)
    }
}

/// The server behind all of them.
pub(super) struct Upstream {
    port: u16,
    _server: Housed,
}

impl Upstream {
    pub(super) fn start() -> anyhow::Result<Self> {
        let (home, port) = (TempDir::new()?, free_port()?);
        let text = include_str!("conf/upstream.conf").replace("{listen}", &port.to_string());
        fs::write(home.path().join("nginx.conf"), text)?;
        let server = nginx(home, port)?;
        Ok(Self { port, _server: server })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

/// A proxy that is running.
pub(super) struct Contender {
    pub(super) kind: Kind,
    pub(super) port: u16,
    proxy: Housed,
}

impl Contender {
    /// Starts it with one worker, set to let everything pass or to refuse nearly everything.
    pub(super) fn start(kind: Kind, path: Path, upstream: u16, program: &File) -> anyhow::Result<Self> {
        let (home, port) = (TempDir::new()?, free_port()?);
        let is_refusing = path == Path::Refused;
        let fill = |text: &str| {
            text.replace("{listen}", &port.to_string()).replace("{upstream}", &upstream.to_string())
        };
        let proxy = match kind {
            Kind::Nginx | Kind::LimitReq | Kind::LimitReqLogging | Kind::LuaBucket | Kind::Lua => {
                let (modules, http, location) = nginx_parts(kind, is_refusing);
                let level = if kind == Kind::LimitReqLogging { "error" } else { "crit" };
                let text =
                    include_str!("conf/nginx.conf").replace("{modules}", modules).replace("{level}", level);
                let text = text.replace("{http}", &http).replace("{location}", location);
                let (rate, burst) = if is_refusing { ("1", "1") } else { ("50000000", "90000000") };
                let lua = include_str!("conf/tiers.lua").replace("{rate}", rate).replace("{burst}", burst);
                fs::write(home.path().join("tiers.lua"), lua)?;
                let lua = include_str!("conf/bucket.lua").replace("{rate}", rate).replace("{burst}", burst);
                fs::write(home.path().join("bucket.lua"), lua)?;
                fs::write(home.path().join("nginx.conf"), fill(&text))?;
                nginx(home, port)?
            }
            Kind::Haproxy => {
                let rate = if is_refusing { "0" } else { "4000000" };
                let text = include_str!("conf/haproxy.cfg").replace("{rate}", rate);
                fs::write(home.path().join("haproxy.cfg"), fill(&text))?;
                Housed::start(File::new("/usr/sbin/haproxy"), &["-db", "-f", "haproxy.cfg"], home, port)?
            }
            Kind::Envoy => {
                let tokens = if is_refusing { "1" } else { "4000000" };
                let text = include_str!("conf/envoy.yaml").replace("{tokens}", tokens);
                fs::write(home.path().join("envoy.yaml"), fill(&text))?;
                let quiet = ["--concurrency", "1", "--log-level", "off", "--disable-hot-restart"];
                Housed::start(&envoy()?, &[&["-c", "envoy.yaml"][..], &quiet].concat(), home, port)?
            }
            Kind::Kernel => {
                let bench = std::env::current_exe().context("where is this program?")?;
                Housed::start(&bench, &["kernel", &port.to_string()], home, port)?
            }
            Kind::Tollgate => {
                let (rate, burst) = if is_refusing { ("1", "1") } else { ("50000000", "90000000") };
                let text =
                    include_str!("conf/tollgate.toml").replace("{rate}", rate).replace("{burst}", burst);
                fs::write(home.path().join("tollgate.toml"), fill(&text))?;
                Housed::start(program, &["serve", "--config", "tollgate.toml"], home, port)?
            }
        };
        Ok(Self { kind, port, proxy })
    }

    /// The time that its threads have had on a processor, as the scheduler counts it, in nanoseconds.
    pub(super) fn cpu_ns(&self) -> anyhow::Result<u64> {
        let mut sum = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.proxy.process.id()))? {
            // A thread may end while we look.
            let text = fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            sum += text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(sum)
    }

    /// Its memory, in KiB.
    pub(super) fn resident(&self) -> anyhow::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.proxy.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

fn nginx(home: TempDir, port: u16) -> anyhow::Result<Housed> {
    let folder = home.path().display().to_string();
    Housed::start(File::new("/usr/sbin/nginx"), &["-p", &folder, "-c", "nginx.conf"], home, port)
}

const LUA_MODULES: &str = "load_module /usr/lib/nginx/modules/ndk_http_module.so;\nload_module \
     /usr/lib/nginx/modules/ngx_http_lua_module.so;\n";

/// What the kinds of nginx have of their own: modules, and lines of the blocks http and location.
fn nginx_parts(kind: Kind, is_refusing: bool) -> (&'static str, String, &'static str) {
    let rate = if is_refusing { "1r/s" } else { "1000000r/s" };
    match kind {
        Kind::LimitReq | Kind::LimitReqLogging => (
            "",
            format!("limit_req_zone $http_x_tollgate_app zone=apps:10m rate={rate}; limit_req_status 429;"),
            if is_refusing { "limit_req zone=apps;" } else { "limit_req zone=apps burst=10000 nodelay;" },
        ),
        Kind::LuaBucket => (
            LUA_MODULES,
            "lua_shared_dict bucket 10m; lua_package_path \"$prefix?.lua;/usr/share/lua/5.1/?.lua;;\";\n    \
             init_by_lua_block { bucket = require \"bucket\" }"
                .into(),
            "access_by_lua_block { bucket.access() }",
        ),
        Kind::Lua => (
            LUA_MODULES,
            "lua_shared_dict tiers 10m; lua_package_path \"$prefix?.lua;/usr/share/lua/5.1/?.lua;;\";\n    \
             init_by_lua_block { tiers = require \"tiers\" }"
                .into(),
            "access_by_lua_block { tiers.access() }\n            header_filter_by_lua_block { tiers.header_filter() }\n            \
             log_by_lua_block { tiers.log() }",
        ),
        _ => ("", String::new(), ""),
    }
}
