//! The same suite on PostgreSQL, each story in a database of its own.

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_holds_on_postgres() {
    let server = PostgresServer::start().unwrap();
    stories! { server: first_run sessions throttling applications versions clusters rollback schedule schedule_due balance emergency accounts history alerts upkeep lists }
}
