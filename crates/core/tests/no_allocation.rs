//! The hot path allocates nothing: pricing, the algorithms, a refill and a grant.

use std::hint::black_box;
use tollgate_core::account::Account;
use tollgate_core::algorithm::{Algorithm, Limit, Word};
use tollgate_core::cost::s3::{Addressing, Request};
use tollgate_core::cost::{Operation, PriceList};
use tollgate_core::grant::{Ask, Climate, Counter};
use tollgate_core::pool::Pool;
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Nanos, Rate, Ratio, Tokens};
use tollgate_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1);
}

#[test]
fn pricing_allocates_nothing() {
    let prices = PriceList::default();
    let request =
        Request { method: "get", path: "/photos", query: "list-type=2&prefix=%61", has_copy_source: false };
    let count = allocations(|| {
        let operation = black_box(&request).operation(Addressing::Path);
        assert_eq!(black_box(prices.price(operation, 65_537)).cost(), 5);
        black_box(Operation::parse("multipart_upload"));
    });
    assert_eq!(count, 0);
}

#[test]
fn deciding_allocates_nothing() {
    let limit = Limit::new(10, 20).unwrap();
    let count = allocations(|| {
        for algorithm in Algorithm::ALL {
            let mut word = Word::FRESH;
            for i in 0..100 {
                let taken = algorithm.take(black_box(&limit), word, Nanos::new(i), 1);
                word = taken.unwrap_or(word);
            }
            black_box(word);
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn granting_allocates_nothing() {
    let quota = Quota {
        guaranteed: Rate::per_second(1_000),
        burst: Tokens::whole(5_000),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    };
    let capacity = Capacity::default();
    let mut pool = Pool::open(&capacity, quota.guaranteed, Millis::ZERO);
    let mut account = Account::open(&quota, Tokens::whole(1_000), Millis::ZERO);
    let count = allocations(|| {
        let now = Millis::new(50);
        account.refill(&quota, Ratio::ONE, now);
        let counter = Counter { quota: &quota, capacity: &capacity, climate: Climate::FAIR, now };
        let grant = counter.plan(&account, &pool, Ask::exactly(Tokens::whole(3_000)));
        counter.grant(&mut account, &mut pool, black_box(&grant));
        assert_eq!(account.outstanding, Tokens::whole(3_000));
    });
    assert_eq!(count, 0);
}
