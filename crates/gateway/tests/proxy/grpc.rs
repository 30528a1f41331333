use crate::support::{route_to, start, timely};
use bytes::{Buf, BufMut, Bytes};
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

/// Messages that are just bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Plain;

impl Codec for Plain {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buf.put(item);
        Ok(())
    }
}

impl Decoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buf.copy_to_bytes(buf.remaining())))
    }
}

type Messages = Pin<Box<dyn futures_util::Stream<Item = Result<Bytes, Status>> + Send>>;

/// Answers each message with itself, and fails at the message `fail`.
struct Echo(Streaming<Bytes>);

impl futures_util::Stream for Echo {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_next(cx).map(|message| match message {
            Some(Ok(bytes)) if bytes == "fail" => Some(Err(Status::data_loss("as you wish"))),
            other => other,
        })
    }
}

#[derive(Clone, Copy)]
struct Unary;

impl tonic::server::UnaryService<Bytes> for Unary {
    type Response = Bytes;
    type Future = std::future::Ready<Result<tonic::Response<Bytes>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let message = request.into_inner();
        std::future::ready(if message == "fail" {
            Err(Status::failed_precondition("no, thank you"))
        } else {
            Ok(tonic::Response::new(message))
        })
    }
}

#[derive(Clone, Copy)]
struct Stream;

impl tonic::server::StreamingService<Bytes> for Stream {
    type Response = Bytes;
    type ResponseStream = Messages;
    type Future = std::future::Ready<Result<tonic::Response<Messages>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<Bytes>>) -> Self::Future {
        let echo: Messages = Box::pin(Echo(request.into_inner()));
        std::future::ready(Ok(tonic::Response::new(echo)))
    }
}

async fn grpc_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(|request| async { Ok::<_, Infallible>(answer(request).await) });
            tokio::spawn(
                http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    address
}

async fn answer(request: Request<Incoming>) -> Response<tonic::body::Body> {
    let mut grpc = tonic::server::Grpc::new(Plain);
    match request.uri().path() {
        "/echo.Echo/Unary" => grpc.unary(Unary, request).await,
        _ => grpc.streaming(Stream, request).await,
    }
}

async fn client(address: SocketAddr) -> Grpc<Channel> {
    let channel = Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.unwrap();
    grpc
}

const UNARY: &str = "/echo.Echo/Unary";
const STREAM: &str = "/echo.Echo/Stream";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_and_its_status_come_through() {
    let (gateway, gate) = start(&route_to(&[grpc_server().await], "protocol = 'http2'"));
    let mut client = client(gateway.local_addr()).await;
    let path = PathAndQuery::from_static(UNARY);
    let message = Bytes::from(vec![b'm'; 100_000]);
    let answer =
        timely(client.unary(tonic::Request::new(message.clone()), path.clone(), Plain)).await.unwrap();
    assert_eq!(answer.into_inner(), message);
    client.ready().await.unwrap();
    let status =
        timely(client.unary::<Bytes, Bytes, _>(tonic::Request::new("fail".into()), path, Plain)).await;
    let status = status.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::FailedPrecondition, "no, thank you"));
    gate.balanced().await;
    assert_eq!(gate.finished(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_go_both_ways_at_once() {
    let (gateway, gate) = start(&route_to(&[grpc_server().await], "protocol = 'http2'"));
    let mut client = client(gateway.local_addr()).await;
    let (to, from) = tokio::sync::mpsc::channel::<Bytes>(1);
    let messages = Received(from);
    let path = PathAndQuery::from_static(STREAM);
    let answer = timely(client.streaming(tonic::Request::new(messages), path, Plain)).await.unwrap();
    let mut answers: Streaming<Bytes> = answer.into_inner();
    for number in 0..50 {
        // The next one is only sent when the last one has come back: nothing waits for the end.
        let message = Bytes::from(format!("message {number}"));
        to.send(message.clone()).await.unwrap();
        assert_eq!(timely(answers.message()).await.unwrap(), Some(message));
    }
    to.send("fail".into()).await.unwrap();
    let status = timely(answers.message()).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::DataLoss, "as you wish"));
    drop(to);
    gate.balanced().await;
    assert_eq!(gate.finished(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_ends_ends_with_its_trailers() {
    let (gateway, _gate) = start(&route_to(&[grpc_server().await], "protocol = 'http2'"));
    let mut client = client(gateway.local_addr()).await;
    let (to, from) = tokio::sync::mpsc::channel::<Bytes>(4);
    to.send("one".into()).await.unwrap();
    drop(to);
    let path = PathAndQuery::from_static(STREAM);
    let answer = timely(client.streaming(tonic::Request::new(Received(from)), path, Plain)).await.unwrap();
    let mut answers: Streaming<Bytes> = answer.into_inner();
    assert_eq!(timely(answers.message()).await.unwrap(), Some("one".into()));
    assert_eq!(timely(answers.message()).await.unwrap(), None);
    let trailers = timely(answers.trailers()).await.unwrap();
    assert!(trailers.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_speaks_grpc() {
    let (gateway, gate) = start(&route_to(&[grpc_server().await], "protocol = 'http2'"));
    let mut client = client(gateway.local_addr()).await;
    let mut request = tonic::Request::new(Bytes::from("hello"));
    request.metadata_mut().insert("x-tollgate-app", "refused".parse().unwrap());
    let path = PathAndQuery::from_static(UNARY);
    let status = timely(client.unary::<Bytes, Bytes, _>(request, path, Plain)).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::ResourceExhausted, "app_exhausted"));
    let retry: Option<&HeaderValue> = status.metadata().as_ref().get("retry-after");
    assert_eq!(retry.map(HeaderValue::as_bytes), Some(&b"1"[..]));
    assert_eq!(gate.admitted(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_down_is_unavailable() {
    let nobody = crate::support::server::nobody().await;
    let (gateway, gate) = start(&route_to(&[nobody], "protocol = 'http2'"));
    let mut client = client(gateway.local_addr()).await;
    let path = PathAndQuery::from_static(UNARY);
    let status = timely(client.unary::<Bytes, Bytes, _>(tonic::Request::new("x".into()), path, Plain)).await;
    assert_eq!(status.unwrap_err().code(), Code::Unavailable);
    gate.balanced().await;
    assert_eq!(gate.rolled_back(), 1);
}

struct Received(tokio::sync::mpsc::Receiver<Bytes>);

impl futures_util::Stream for Received {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_recv(cx)
    }
}
