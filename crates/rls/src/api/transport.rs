//! The service as a server and a client of gRPC see it.

use super::{METHOD, RateLimitRequest, RateLimitResponse, SERVICE};
use http::uri::PathAndQuery;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower_service::Service;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Whoever answers the calls.
pub trait RateLimitService: Send + Sync + 'static {
    /// May this pass?
    fn should_rate_limit(
        self: Arc<Self>,
        call: RateLimitRequest,
    ) -> impl Future<Output = Result<RateLimitResponse, Status>> + Send;
}

/// A service behind gRPC.
#[derive(Debug)]
pub struct Transport<S> {
    service: Arc<S>,
    largest_call: usize,
}

impl<S> Transport<S> {
    /// That service, which reads no call of more than so many bytes.
    pub const fn new(service: Arc<S>, largest_call: usize) -> Self {
        Self { service, largest_call }
    }
}

impl<S> Clone for Transport<S> {
    fn clone(&self) -> Self {
        Self { service: Arc::clone(&self.service), largest_call: self.largest_call }
    }
}

impl<S> NamedService for Transport<S> {
    const NAME: &'static str = SERVICE;
}

impl<S: RateLimitService> Service<http::Request<Body>> for Transport<S> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Boxed<Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let Self { service, largest_call } = self.clone();
        Box::pin(async move {
            if request.uri().path() != METHOD {
                return Ok(Status::unimplemented("no such method").into_http());
            }
            let codec = ProstCodec::<RateLimitResponse, RateLimitRequest>::default();
            let mut grpc = Grpc::new(codec).max_decoding_message_size(largest_call);
            Ok(grpc.unary(Call(service), request).await)
        })
    }
}

/// One call, read and about to be answered.
#[derive(Debug)]
pub struct Call<S>(Arc<S>);

impl<S: RateLimitService> UnaryService<RateLimitRequest> for Call<S> {
    type Response = RateLimitResponse;
    type Future = Boxed<Result<Response<RateLimitResponse>, Status>>;

    fn call(&mut self, request: Request<RateLimitRequest>) -> Self::Future {
        let service = Arc::clone(&self.0);
        Box::pin(async move { service.should_rate_limit(request.into_inner()).await.map(Response::new) })
    }
}

/// Whoever makes calls.
#[derive(Clone, Debug)]
pub struct Client {
    grpc: tonic::client::Grpc<Channel>,
}

impl Client {
    /// A client of whatever the channel leads to.
    pub fn new(channel: Channel) -> Self {
        Self { grpc: tonic::client::Grpc::new(channel) }
    }

    /// May this pass?
    pub async fn should_rate_limit(&mut self, call: RateLimitRequest) -> Result<RateLimitResponse, Status> {
        let ready = self.grpc.ready().await;
        ready.map_err(|error| Status::unavailable(error.to_string()))?;
        let codec = ProstCodec::<RateLimitRequest, RateLimitResponse>::default();
        let answer = self.grpc.unary(Request::new(call), PathAndQuery::from_static(METHOD), codec).await?;
        Ok(answer.into_inner())
    }
}
