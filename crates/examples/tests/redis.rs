//! The limiter on real servers.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tollgate_limiter::redis::{Ask, Error, RedisLimiter, Window};
use tollgate_limiter::{Error as Question, Limit, Outcome};
use tollgate_testkit::{RedisCluster, RedisServer};

/// Long enough for a machine with much else to do.
const PATIENT: Duration = Duration::from_secs(5);

fn limiter(server: &RedisServer) -> RedisLimiter {
    RedisLimiter::builder().timeout(PATIENT).connect(&server.url()).unwrap()
}

/// So slow that nothing comes up during a test.
fn slow(burst: u64) -> Limit {
    Limit::per(1, Duration::from_hours(1)).unwrap().with_burst(burst).unwrap()
}

fn key_of(server: &RedisServer, pattern: &str) -> String {
    server.cli(&["--scan", "--pattern", pattern]).unwrap().trim().to_owned()
}

#[tokio::test]
async fn a_bucket_is_taken_from_until_it_is_empty() {
    let server = RedisServer::start().unwrap();
    let limiter = limiter(&server);
    let limit = slow(5);
    let take = async |n| limiter.allow_n("k", &limit, n).await.unwrap();
    assert_eq!(take(3).await.remaining, 2);
    let refused = take(3).await;
    assert!(!refused.allowed && refused.remaining == 2, "nothing is taken of what is refused: {refused:?}");
    let wait = refused.retry_after.unwrap();
    assert!(wait <= Duration::from_hours(1) && wait > Duration::from_mins(59), "{wait:?}");
    assert!(take(2).await.allowed);
    assert!(!take(1).await.allowed);
    assert_eq!(take(6).await.retry_after, None, "more than it ever holds");
    assert!(limiter.allow("another", &limit).await.unwrap().allowed);
    assert!(limiter.allow("k", &slow(6)).await.unwrap().allowed, "another limit is another bucket");
}

#[tokio::test]
async fn a_burst_passes_to_the_last_token_whatever_the_rate() {
    let server = RedisServer::start().unwrap();
    let limiter = limiter(&server);
    for amount in [3, 7, 11, 1_009] {
        let limit = Limit::per(amount, Duration::from_hours(24)).unwrap();
        let asks = vec![Ask { key: "burst", limit: &limit, n: 1 }; usize::try_from(amount).unwrap() + 1];
        let passed =
            limiter.allow_batch(&asks).await.iter().filter(|one| one.as_ref().unwrap().allowed).count();
        assert_eq!(passed, usize::try_from(amount).unwrap());
    }
}

#[tokio::test]
async fn tokens_come_back_at_the_rate() {
    let server = RedisServer::start().unwrap();
    let limiter = limiter(&server);
    let limit = Limit::new(1_000, 50).unwrap();
    let start = Instant::now();
    let mut passed = 0;
    while start.elapsed() < Duration::from_millis(500) {
        passed += u64::from(limiter.allow("k", &limit).await.unwrap().allowed);
    }
    let most = 50 + 1_000 * u64::try_from(start.elapsed().as_millis()).unwrap() / 1_000 + 1;
    assert!(passed <= most, "{passed} of at most {most}");
}

#[tokio::test]
async fn keys_end_by_themselves_and_endless_ones_are_healed() {
    let server = RedisServer::start().unwrap();
    let ttl = |key: &str| server.cli(&["TTL", key]).unwrap().trim().parse::<i64>().unwrap();
    // What is left of so many whole seconds since then.
    let is_left = |ttl: i64, whole: i64, since: Instant| {
        let late = i64::try_from(since.elapsed().as_secs()).unwrap() + 1;
        assert!((whole - late..=whole).contains(&ttl), "{ttl} of {whole}, {late} s late at most");
    };
    let bucket = limiter(&server);
    let start = Instant::now();
    assert!(bucket.allow("gcra", &Limit::new(1, 35).unwrap()).await.unwrap().allowed);
    // Twice the time it takes to fill.
    is_left(ttl(&key_of(&server, "ratelimit:gcra:*")), 70, start);

    let window =
        RedisLimiter::builder().algorithm(Window::Fixed).timeout(PATIENT).connect(&server.url()).unwrap();
    let limit = Limit::per(5, Duration::from_secs(100)).unwrap();
    let take = async |n| window.allow_n("fixed", &limit, n).await.unwrap();
    let start = Instant::now();
    assert_eq!(take(3).await.remaining, 2);
    let key = key_of(&server, "ratelimit:fixed:*");
    is_left(ttl(&key), 100, start);
    server.cli(&["PERSIST", &key]).unwrap();
    assert_eq!(ttl(&key), -1);
    let start = Instant::now();
    assert!(!take(3).await.allowed);
    // A window without an end gets one.
    is_left(ttl(&key), 100, start);
    assert!(take(2).await.allowed);
    assert_eq!(take(6).await.retry_after, None);
    server.cli(&["DEL", &key]).unwrap();
    assert_eq!(take(1).await.remaining, 4);
}

#[tokio::test]
async fn a_batch_is_answered_one_by_one() {
    let server = RedisServer::start().unwrap();
    let limiter = limiter(&server);
    let limit = slow(2);
    server.cli(&["LPUSH", &format!("ratelimit:list:{:x}", limit.fingerprint()), "x"]).unwrap();
    let ask = |key, n| Ask { key, limit: &limit, n };
    let answers = limiter
        .allow_batch(&[ask("a", 2), ask("", 1), ask("list", 1), ask("a", 1), ask("b", 0), ask("b", 1)])
        .await;
    let allowed = |answer: &Result<Outcome, Error>| {
        answer.as_ref().map(|outcome| outcome.allowed).map_err(Clone::clone)
    };
    assert_eq!(allowed(&answers[0]), Ok(true));
    assert_eq!(allowed(&answers[1]), Err(Error::Question(Question::EmptyKey)));
    assert!(matches!(&answers[2], Err(Error::Server(why)) if why.contains("WRONGTYPE")), "{:?}", answers[2]);
    assert_eq!(allowed(&answers[3]), Ok(false));
    assert_eq!(allowed(&answers[4]), Err(Error::Question(Question::ZeroTokens)));
    assert_eq!(allowed(&answers[5]), Ok(true));
    // A server that forgot the script learns it again, and nothing is taken twice.
    server.cli(&["SCRIPT", "FLUSH"]).unwrap();
    let again = limiter.allow_batch(&[ask("b", 1), ask("b", 1)]).await;
    assert_eq!([allowed(&again[0]), allowed(&again[1])], [Ok(true), Ok(false)]);
}

#[tokio::test]
async fn without_the_server_each_process_goes_on_with_its_share() {
    let mut server = RedisServer::start().unwrap();
    let limiter = RedisLimiter::builder()
        .timeout(Duration::from_millis(500))
        .fallback(0.5)
        .connect(&server.url())
        .unwrap();
    let strict = RedisLimiter::builder().timeout(Duration::from_millis(500)).connect(&server.url()).unwrap();
    let limit = slow(10);
    assert_eq!(limiter.allow("k", &limit).await.unwrap().limit, 10);
    server.kill();
    let mut passed = 0;
    for _ in 0..50 {
        let outcome = limiter.allow("k", &limit).await.unwrap();
        assert_eq!(outcome.limit, 5, "half of it");
        passed += u64::from(outcome.allowed);
    }
    assert_eq!(passed, 5);
    assert!(matches!(strict.allow("k", &limit).await, Err(Error::Unavailable(_))));
    server.restart().unwrap();
    let back = async {
        while limiter.allow("k", &limit).await.unwrap().limit != 10 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(30), back).await.unwrap();
}

#[tokio::test]
async fn waiting_must_be_asked_for() {
    let server = RedisServer::start().unwrap();
    assert_eq!(limiter(&server).wait("k", &slow(1)).await, Err(Error::NotSupported));
    let window =
        RedisLimiter::builder().algorithm(Window::Fixed).reserving_wait(true).connect(&server.url()).unwrap();
    assert_eq!(window.wait("k", &slow(1)).await, Err(Error::NotSupported));
}

/// Whoever came first passes first, also from another process, and a wait that is given up makes room.
#[tokio::test]
async fn waits_are_served_in_turn_and_give_their_place_up() {
    let server = RedisServer::start().unwrap();
    let connect =
        || RedisLimiter::builder().reserving_wait(true).timeout(PATIENT).connect(&server.url()).unwrap();
    let [one, other] = [connect(), connect()].map(Arc::new);
    let limit = Limit::new(5, 1).unwrap();
    one.wait("k", &limit).await.unwrap();
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for (number, limiter) in [&one, &other, &one].into_iter().cloned().enumerate() {
        let reserved = one.allow("line", &slow(100)).await.unwrap().allowed;
        assert!(reserved);
        let order = Arc::clone(&order);
        let task = tokio::spawn(async move {
            limiter.wait("k", &limit).await.unwrap();
            order.lock().unwrap().push(number);
        });
        // The next comes when this one has its place.
        let key = key_of(&server, "ratelimit:k:*");
        let taken =
            || server.cli(&["GET", &key]).unwrap().split(' ').nth(1).unwrap().trim().parse::<f64>().unwrap();
        let before = taken();
        while taken() <= before && !task.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tasks.push(task);
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [0, 1, 2]);

    let hourly = slow(1);
    one.wait("slow", &hourly).await.unwrap();
    assert_eq!(one.wait_timeout("slow", &hourly, 1, Duration::from_mins(1)).await, Err(Error::Timeout));
    assert_eq!(
        one.wait_timeout("slow", &hourly, 2, Duration::from_mins(1)).await,
        Err(Error::Question(Question::ExceedsCapacity { asked: 2, capacity: 1 }))
    );
    let key = key_of(&server, "ratelimit:slow:*");
    let taken =
        || server.cli(&["GET", &key]).unwrap().split(' ').nth(1).unwrap().trim().parse::<f64>().unwrap();
    let given_up = timeout(Duration::from_millis(200), one.wait("slow", &hourly)).await;
    assert!(given_up.is_err());
    let room = async {
        while taken() > 1.01 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), room).await.unwrap();
}

#[tokio::test]
async fn a_cluster_is_as_good_as_a_server() {
    let cluster = RedisCluster::start().unwrap();
    let limiter = RedisLimiter::builder().timeout(PATIENT).connect(&cluster.url()).unwrap();
    let limit = slow(3);
    let names: Vec<String> = (0..50).map(|i| format!("key-{i}")).collect();
    for expected in [true, true, true, false] {
        let asks: Vec<Ask<'_>> = names.iter().map(|key| Ask { key, limit: &limit, n: 1 }).collect();
        let answers = limiter.allow_batch(&asks).await;
        assert!(answers.iter().all(|answer| answer.as_ref().unwrap().allowed == expected), "{answers:?}");
    }
    assert!(!limiter.allow("key-7", &limit).await.unwrap().allowed);
}
