//! The service as any client of gRPC sees it.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::net::SocketAddr;
use std::time::Duration;
use support::{memory, node, node_with, serve, still};
use tollgate_config::rls::{Headers, Rls, Unmatched};
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::Tokens;
use tollgate_ledger::Ledger;
use tollgate_rls::Handle;
use tollgate_rls::api::{
    Client, Code, Entry, RateLimitDescriptor, RateLimitRequest, RateLimitResponse, SERVICE,
};
use tonic::Status;
use tonic::transport::{Channel, Endpoint};

fn descriptor(app: &str) -> RateLimitDescriptor {
    RateLimitDescriptor { entries: vec![entry("app", app)], ..Default::default() }
}

fn entry(key: &str, value: &str) -> Entry {
    Entry { key: key.into(), value: value.into() }
}

fn costing(app: &str, cost: u64) -> RateLimitDescriptor {
    RateLimitDescriptor { hits_addend: Some(cost), ..descriptor(app) }
}

async fn channel(address: SocketAddr) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

async fn ask(service: &Handle, descriptors: Vec<RateLimitDescriptor>) -> Result<RateLimitResponse, Status> {
    let call = RateLimitRequest { domain: "edge".into(), descriptors, hits_addend: 0 };
    Client::new(channel(service.local_addr()).await).should_rate_limit(call).await
}

fn codes(response: &RateLimitResponse) -> Vec<Code> {
    response.statuses.iter().map(|status| Code::try_from(status.code).unwrap()).collect()
}

#[tokio::test]
async fn a_status_tells_limit_remaining_and_reset() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let response = ask(&service, vec![costing("hundred", 30)]).await.unwrap();
    assert_eq!(response.overall_code(), Code::Ok);
    let status = &response.statuses[0];
    let limit = status.current_limit.as_ref().unwrap();
    assert_eq!((limit.requests_per_unit, limit.name.as_str()), (100, "hundred"));
    assert!((70..=99).contains(&status.limit_remaining), "{status:?}");
    assert!(status.duration_until_reset.as_ref().unwrap().nanos > 0);
    assert_eq!(response.dynamic_metadata, None);
}

/// `pk` and `name` say whose the numbers beside them are.
#[tokio::test]
async fn a_stranger_is_told_of_whoever_pays() {
    let service = serve(&node_with(memory(), AppId::new("ten").ok()), Rls::default());
    let response = ask(&service, vec![costing("who knows?", 1)]).await.unwrap();
    let refused = ask(&service, vec![costing("who knows?", 50)]).await.unwrap();
    assert_eq!((response.overall_code(), refused.overall_code()), (Code::Ok, Code::OverLimit));
    for response in [response, refused] {
        let told: Vec<_> =
            response.response_headers_to_add.iter().filter(|field| field.value.contains(";pk=")).collect();
        assert_eq!(told.len(), 2, "{response:?}");
        assert!(told.iter().all(|field| field.value.ends_with(";pk=:dGVu:")), "{told:?}");
        let limit = response.statuses[0].current_limit.as_ref().unwrap();
        assert_eq!((limit.requests_per_unit, limit.name.as_str()), (10, "ten"));
    }
    let service = serve(&node(memory()), Rls::default());
    let nobody = ask(&service, vec![costing("who knows?", 1)]).await.unwrap();
    assert_eq!((nobody.overall_code(), &nobody.statuses[0].current_limit), (Code::OverLimit, &None));
    assert!(!format!("{:?}", nobody.response_headers_to_add).contains("pk="), "{nobody:?}");
}

#[tokio::test(start_paused = true)]
async fn all_descriptors_pass_or_none_is_charged() {
    let _still = still();
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let both = |cost| vec![costing("plenty", 600), costing("ten", cost)];
    let response = ask(&service, both(11)).await.unwrap();
    assert_eq!(codes(&response), [Code::Ok, Code::OverLimit]);
    assert_eq!(response.overall_code(), Code::OverLimit);
    let fields = &response.dynamic_metadata.unwrap().fields;
    let field = |name: &str| format!("{:?}", fields[name].kind.as_ref().unwrap());
    assert_eq!(field("reason"), "StringValue(\"app_exhausted\")");
    assert_eq!((field("app"), field("cost")), ("StringValue(\"ten\")".into(), "NumberValue(11.0)".into()));
    // Were anything left charged of it, this would not pass.
    assert_eq!(ask(&service, both(10)).await.unwrap().overall_code(), Code::Ok);
    assert_eq!(ask(&service, both(1)).await.unwrap().overall_code(), Code::OverLimit);
}

#[tokio::test(start_paused = true)]
async fn hits_of_nothing_only_look_and_negative_ones_give_back() {
    let _still = still();
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let code = async |descriptor| ask(&service, vec![descriptor]).await.unwrap().overall_code();
    let returning = |hits| RateLimitDescriptor { is_negative_hits: true, ..costing("ten", hits) };
    assert_eq!(code(costing("ten", 10)).await, Code::Ok);
    for _ in 0..3 {
        assert_eq!(code(costing("ten", 0)).await, Code::OverLimit);
    }
    assert_eq!(code(returning(4)).await, Code::Ok);
    for _ in 0..3 {
        assert_eq!(code(costing("ten", 0)).await, Code::Ok, "looking takes nothing");
    }
    assert_eq!(code(costing("ten", 5)).await, Code::OverLimit);
    assert_eq!(code(costing("ten", 4)).await, Code::Ok);
    // Fourteen passed and four came back: no more than ten can.
    assert_eq!(code(returning(u64::MAX)).await, Code::Ok);
    assert_eq!(code(costing("ten", 10)).await, Code::Ok);
    assert_eq!(code(costing("ten", 1)).await, Code::OverLimit);
}

#[tokio::test(start_paused = true)]
async fn p05_a_look_borrows_nothing() {
    let _still = still();
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let code = async |cost| ask(&service, vec![costing("debtor", cost)]).await.unwrap().overall_code();
    let debt = async || {
        let apps = node.ledger().apps(&ClusterId::new("c").unwrap(), None, 256).await.unwrap();
        let debtor = apps.into_iter().find(|app| *app.policy.policy.app == *"debtor").unwrap();
        debtor.account.loan.debt
    };
    assert_eq!(code(1).await, Code::Ok);
    // Until the next report the ledger need not be asked again, by whomever.
    tokio::time::advance(Duration::from_millis(200)).await;
    for _ in 0..3 {
        assert_eq!(code(0).await, Code::OverLimit);
    }
    assert_eq!(debt().await, Tokens::ZERO);
    // A report is due by then; loans are asked for when a moment has passed since the last call.
    tokio::time::advance(Duration::from_secs(1)).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_millis(20)).await;
    assert_eq!(code(5).await, Code::Ok, "whoever needs it may borrow");
    assert!(debt().await > Tokens::ZERO);
    let counts = node.app("debtor").unwrap().counts();
    assert_eq!((counts.refused.iter().sum::<u64>(), counts.rolled_back), (0, 0));
}

#[tokio::test]
async fn what_names_no_application_limits_nothing_unless_it_is_to_be_refused() {
    let node = node(memory());
    let stranger =
        || vec![RateLimitDescriptor { entries: vec![entry("remote_address", "::1")], ..Default::default() }];
    let service = serve(&node, Rls::default());
    let response = ask(&service, stranger()).await.unwrap();
    assert_eq!((response.overall_code(), codes(&response)), (Code::Ok, vec![Code::Ok]));
    assert!(response.response_headers_to_add.is_empty());
    assert_eq!(service.counts().unmatched, 1);
    let strict = serve(&node, Rls { unmatched: Unmatched::Refuse, ..Rls::default() });
    assert_eq!(ask(&strict, stranger()).await.unwrap().overall_code(), Code::OverLimit);
}

#[tokio::test]
async fn headers_are_told_as_configured() {
    let node = node(memory());
    for (headers, passed, refused) in
        [(Headers::Always, true, true), (Headers::Refused, false, true), (Headers::Never, false, false)]
    {
        let service = serve(&node, Rls { headers, ..Rls::default() });
        let of =
            async |cost| ask(&service, vec![costing("ten", cost)]).await.unwrap().response_headers_to_add;
        assert_eq!(!of(1).await.is_empty(), passed, "{headers:?}");
        assert_eq!(!of(1_000).await.is_empty(), refused, "{headers:?}");
    }
}

#[tokio::test]
async fn calls_that_make_no_sense_are_refused_as_such() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let many = vec![entry("k", "v"); 65];
    for descriptors in [
        vec![],
        vec![descriptor("ten"); 65],
        vec![RateLimitDescriptor { entries: many, ..Default::default() }],
    ] {
        let status = ask(&service, descriptors).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status:?}");
    }
    let large =
        vec![RateLimitDescriptor { entries: vec![entry("app", &"x".repeat(100_000))], ..Default::default() }];
    assert_eq!(ask(&service, large).await.unwrap_err().code(), tonic::Code::OutOfRange);
    assert_eq!(service.counts().invalid, 3);
}

#[tokio::test]
async fn health_and_reflection_answer_and_drain_says_goodbye() {
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_client::HealthClient;
    use tonic_reflection::pb::v1::ServerReflectionRequest;
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

    let node = node(memory());
    let service = serve(&node, Rls::default());
    let address = service.local_addr();
    let channel = channel(address).await;
    let request = HealthCheckRequest { service: SERVICE.into() };
    let health = HealthClient::new(channel.clone()).check(request).await.unwrap().into_inner();
    assert_eq!(health.status, 1, "serving");
    let ask = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::FileContainingSymbol(SERVICE.into())),
    };
    let mut answers =
        ServerReflectionClient::new(channel).server_reflection_info(once(ask)).await.unwrap().into_inner();
    let answer = format!("{:?}", answers.message().await.unwrap().unwrap());
    assert!(answer.contains("FileDescriptorResponse"), "{answer}");
    service.drain(Duration::from_secs(5)).await;
    assert!(Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.is_err());
}

/// As the program runs it: on a runtime of several threads the door has threads of its own.
#[tokio::test(flavor = "multi_thread")]
async fn every_thread_of_its_own_answers_and_says_goodbye() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let address = service.local_addr();
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(Client::new(channel(address).await));
    }
    for client in &mut clients {
        let response = client.should_rate_limit(call()).await.unwrap();
        assert_eq!(response.overall_code(), Code::Ok);
    }
    assert_eq!(service.counts().passed, 8);
    tokio::time::timeout(Duration::from_secs(30), service.drain(Duration::from_secs(90))).await.unwrap();
    for client in &mut clients {
        client.should_rate_limit(call()).await.unwrap_err();
    }
}

/// Whoever drops the door waits for nobody, and neither do its threads: connections end although nobody closed them.
#[tokio::test(flavor = "multi_thread")]
async fn threads_of_its_own_end_with_the_door() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let mut client = Client::new(channel(service.local_addr()).await);
    client.should_rate_limit(call()).await.unwrap();
    drop(service);
    let end = async { while client.should_rate_limit(call()).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(30), end).await.unwrap();
}

fn call() -> RateLimitRequest {
    RateLimitRequest { domain: "edge".into(), descriptors: vec![costing("plenty", 1)], hits_addend: 0 }
}

fn once<T: Send + 'static>(one: T) -> impl futures_util::Stream<Item = T> + Send + 'static {
    futures_util::stream::once(async move { one })
}
