//! The server: one thread a connection, on the loopback address alone.

use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use saltus_program::Stopwatch;
use serde_json::json;

use crate::http::{self, Request, Response, Unreadable};
use crate::memory::Memory;
use crate::places::{Place, Places};
use crate::runs::Surroundings;
use crate::studio::Studio;
use crate::target::Target;
use crate::{Settings, api, assets, gate};

/// A connection that says nothing for so long, or does not take what it has asked for, is closed.
const IDLE: Duration = Duration::from_secs(120);
/// A connection that has not shown the token has this time for each request: whoever has no business here shall not keep a place for long.
const STRANGER: Duration = Duration::from_secs(10);
/// A page that is gone is noticed by a sign of life that does not arrive.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

pub struct Server {
    listener: TcpListener,
    port: u16,
    gate: Arc<gate::Gate>,
    studio: Arc<Studio>,
}

impl Server {
    /// Takes the port and reads the target; `Err` says what is wrong.
    pub fn open(settings: &Settings) -> Result<Server, String> {
        let target = Target::new(
            &settings.target,
            &settings.libraries,
            settings.modelica_path.as_deref(),
            settings.permissions,
        )?;
        let memory = Memory::of(settings.memory.as_deref(), &target.name);
        let before = memory.address();
        let listener = listen(settings.port, before.as_ref().map(|(port, _)| *port))
            .map_err(|error| format!("the port cannot be taken: {error}"))?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        // An open page knows the address of the server before; it goes on if this one has it.
        let token = match before {
            Some((known, token)) if known == port => token,
            _ => gate::random_token().map_err(|error| format!("there are no random numbers: {error}"))?,
        };
        memory.keep_address(port, &token);
        let (archive, kept) = memory.archive().unzip();
        let around = Surroundings {
            hub: Arc::default(),
            permissions: settings.permissions,
            stopwatch: settings.stopwatch.clone(),
            archive,
        };
        // Before the sessions look: what comes later is noticed.
        let listing = target.listing();
        let sessions = (target.session(), target.session());
        let studio = Studio::open(target, sessions, listing, memory, around).map_err(|error| error.to_string())?;
        studio.runs.restore(kept.unwrap_or_default());
        Ok(Server { listener, port, gate: Arc::new(gate::Gate::new(port, &token)), studio })
    }

    /// What a browser opens. The token is behind `#`: that part is never sent, and not in the history of requests.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#{}", self.port, self.gate.token())
    }

    /// Serves until the process ends.
    pub fn run(self) -> io::Result<()> {
        let places = Arc::new(Places::default());
        for connection in self.listener.incoming() {
            // A connection that failed while it was made is the other side's matter.
            let Ok(connection) = connection else { continue };
            let (gate, studio, connection) = (self.gate.clone(), self.studio.clone(), Arc::new(connection));
            let mut place = places.take(&connection);
            let work = move || {
                // The other side may go away at any time.
                let _ = serve(&connection, &mut place, &gate, &studio);
            };
            // Without a thread this connection is closed; the next one may find one.
            let _ = std::thread::Builder::new().name("connection".into()).spawn(work);
        }
        Ok(())
    }
}

/// What arrives up to a time; then the connection is at its end, however slowly something still comes.
struct Patient<'a> {
    connection: &'a TcpStream,
    stopwatch: &'a Stopwatch,
    until: Duration,
}

impl Read for Patient<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_sub(self.stopwatch.now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.connection.set_read_timeout(Some(left))?;
        self.connection.read(into)
    }
}

fn listen(wanted: Option<u16>, before: Option<u16>) -> io::Result<TcpListener> {
    let at = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    match (wanted, before) {
        (Some(port), _) => at(port),
        (None, Some(port)) => at(port).or_else(|_| at(0)),
        (None, None) => at(0),
    }
}

fn serve(connection: &TcpStream, place: &mut Place, gate: &gate::Gate, studio: &Arc<Studio>) -> io::Result<()> {
    connection.set_write_timeout(Some(IDLE))?;
    connection.set_nodelay(true)?;
    let stopwatch = &studio.around.stopwatch;
    let mut input = BufReader::new(Patient { connection, stopwatch, until: Duration::ZERO });
    let mut output = connection;
    let mut patience = STRANGER;
    loop {
        input.get_mut().until = stopwatch.now() + patience;
        let mut request = match http::read_head(&mut input) {
            Ok(request) => request,
            Err(Unreadable::Closed) => return Ok(()),
            Err(Unreadable::Bad(status, why)) => return http::write(&mut output, &Response::text(status, why), true),
        };
        let is_admitted = admitted(gate, &request).is_ok();
        if is_admitted {
            if !place.admit() {
                return http::write(&mut output, &Response::text(503, "too many connections are open"), true);
            }
            patience = IDLE;
            input.get_mut().until = stopwatch.now() + IDLE;
            match http::read_body(&mut input, &request) {
                Ok(body) => request.body = body,
                Err(Unreadable::Closed) => return Ok(()),
                Err(Unreadable::Bad(status, why)) => {
                    return http::write(&mut output, &Response::text(status, why), true);
                }
            }
        }
        if request.path == "/api/stream" && is_admitted {
            return stream(&mut output, studio);
        }
        let asks_to_close = request.header("connection").is_some_and(|c| c.eq_ignore_ascii_case("close"));
        // The body of somebody who is not admitted is not read, so that nothing can follow it.
        let has_more = !is_admitted && ["content-length", "transfer-encoding"].iter().any(|n| request.n_headers(n) > 0);
        let is_last = asks_to_close || has_more;
        let response = respond(gate, studio, &request);
        let mut bytes = Vec::with_capacity(response.body.len() + 1024);
        http::write(&mut bytes, &response, is_last)?;
        output.write_all(&bytes)?;
        if is_last {
            return Ok(());
        }
        place.renew();
    }
}

fn admitted(gate: &gate::Gate, request: &Request) -> Result<(), gate::Refused> {
    gate.check_origin(request).and_then(|()| gate.check_token(request))
}

fn respond(gate: &gate::Gate, studio: &Arc<Studio>, request: &Request) -> Response {
    if let Err((status, why)) = gate.check_origin(request) {
        return Response::text(status, why);
    }
    if !request.path.starts_with("/api/") {
        return match (request.method.as_str(), assets::find(&request.path)) {
            ("GET", Some((kind, bytes))) => Response::bytes(kind, bytes.to_vec()),
            ("GET", None) => Response::text(404, "there is no such page"),
            _ => Response::text(405, "expected GET"),
        };
    }
    match gate.check_token(request) {
        Ok(()) => saltus::guard::catch(|| api::answer(studio, request)).unwrap_or_else(|_| {
            Response::json(500, &json!({"error": "a defect of the compiler prevented the answer"}))
        }),
        Err((status, why)) => Response::text(status, why),
    }
}

/// News as server-sent events until the page goes away.
fn stream(output: &mut impl Write, studio: &Arc<Studio>) -> io::Result<()> {
    let news = studio.hub().listen();
    http::begin_stream(output)?;
    loop {
        match news.recv_timeout(SIGN_OF_LIFE) {
            Ok(message) => write!(output, "data: {message}\n\n")?,
            Err(RecvTimeoutError::Timeout) => output.write_all(b":\n\n")?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        output.flush()?;
    }
}
