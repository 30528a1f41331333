//! The same suite on PostgreSQL, each story in a database of its own.

use crate::support::World;
use tollgate_core::cost::Operation;
use tollgate_core::id::NodeId;
use tollgate_node::Request;
use tollgate_testkit::PostgresServer;

macro_rules! stories {
    ($server:ident: $($name:ident)+) => {
        $(
            let database = $server.database(stringify!($name)).unwrap();
            $server.database(concat!(stringify!($name), "-2")).unwrap();
            crate::suite::$name(&database).await;
        )+
    };
}

/// A decision is explained by whichever node has it: the others ask it, in the name of whoever asks them.
async fn peers(server: &PostgresServer) {
    let database = server.database("peers").unwrap();
    let first = World::start(&database).await;
    let second =
        World::start_with(&database, |settings| settings.node = NodeId::new("node-02").unwrap()).await;
    let token = first.admin().await;
    let request = Request::new("app-c", Operation::Put).with_cost(1_000_000);
    let decision = first.node.admit(&request).await.expect_err("it costs more than there ever is");
    let path = format!("/api/v1/decisions/{}", first.node.record("app-c", &decision));
    let own = first.call("GET", &path, &token, None).await.expect(200);
    second.wait(async || second.call("GET", &path, &token, None).await.status == 200).await;
    assert_eq!(second.call("GET", &path, &token, None).await.body, own.body);
    second.call("GET", &path, "nobody", None).await.expect(401);
    let unknown = format!("/api/v1/decisions/{}", "0".repeat(32));
    second.call("GET", &unknown, &token, None).await.expect(404);
    let passed_on = second.call_with("GET", &path, &token, None, &[("x-tollgate-passed-on", "1")]).await;
    assert_eq!(passed_on.status, 404, "a question is passed on once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_holds_on_postgres() {
    let server = PostgresServer::start().unwrap();
    peers(&server).await;
    stories! { server: first_run sessions throttling applications versions schedule emergency accounts history alerts }
}
