//! The suite on SQLite, each story in a file of its own.

macro_rules! stories {
    ($($name:ident)+) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let folder = tempfile::tempdir().unwrap();
            crate::suite::$name(folder.path().join("admin.db").to_str().unwrap()).await;
        })+
    };
}

stories! { first_run sessions throttling applications versions clusters rollback schedule schedule_due balance emergency accounts history alerts upkeep lists }
