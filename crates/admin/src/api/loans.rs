//! Borrowing and paying back, by hand.

use super::apps::existing;
use super::page::Segment;
use crate::auth::Operator;
use crate::form::Form;
use crate::policy::Found;
use crate::problem::Problem;
use crate::state::Shared;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tollgate_core::units::Tokens;
use utoipa::ToSchema;

/// The most that any application may owe.
const MOST: i64 = 4_000_000_000;

/// How much to borrow or to pay back.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct LoanInput {
    /// In tokens.
    #[schema(minimum = 1, maximum = 4_000_000_000u64)]
    amount: u64,
}

/// What was borrowed, and how the application stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Lent {
    /// The debt that it made: a fifth more than was borrowed.
    owed: u64,
    #[serde(flatten)]
    standing: LoanStanding,
}

/// What was paid back, and how the application stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Repaid {
    /// What was taken from its bucket: as much as was asked for, as far as there was debt and there were tokens.
    paid: u64,
    /// How much of that was borrowed; the rest is interest.
    principal: u64,
    #[serde(flatten)]
    standing: LoanStanding,
}

/// What an application owes, and what it has.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct LoanStanding {
    /// What it has borrowed in all.
    borrowed: u64,
    /// What it owes in all, interest included.
    debt: u64,
    /// What is in its bucket.
    tokens: u64,
}

/// Borrows tokens into the bucket of an application, also where it does not borrow by itself. Each call borrows anew.
#[utoipa::path(post, path = "/api/v1/apps/{app_id}/borrow", tag = "apps", request_body = LoanInput,
    params(("app_id" = String, Path,)), extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "it was borrowed", body = Lent),
              (status = 409, description = "it is not lent: the end of `type` says why, `available` how much would be", body = Problem,
               content_type = "application/problem+json")))]
pub(crate) async fn borrow(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(name): Segment<String>,
    form: Form,
) -> Result<Json<Lent>, Problem> {
    let amount = amount(form)?;
    let before = existing(&admin, &name).await?;
    let owed = admin.plane.borrow(&before.app.cluster, &before.id, amount).await?;
    let after = json!({"amount": amount.floor(), "owed": owed.ceil()});
    admin.audit(&caller, "app.borrow", &name, Some(&loan(&before)), Some(&after)).await?;
    let standing = LoanStanding::from(&existing(&admin, &name).await?);
    Ok(Json(Lent { owed: owed.ceil(), standing }))
}

/// Pays back debt of an application from its bucket. The interest goes back to the cluster too.
#[utoipa::path(post, path = "/api/v1/apps/{app_id}/repay", tag = "apps", request_body = LoanInput,
    params(("app_id" = String, Path,)), extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "what could be was paid back", body = Repaid)))]
pub(crate) async fn repay(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(name): Segment<String>,
    form: Form,
) -> Result<Json<Repaid>, Problem> {
    let amount = amount(form)?;
    let before = existing(&admin, &name).await?;
    let repaid = admin.plane.repay(&before.app.cluster, &before.id, amount).await?;
    let (paid, principal) = (repaid.paid.floor(), repaid.principal.floor());
    let after = json!({"amount": amount.floor(), "paid": paid, "principal": principal});
    admin.audit(&caller, "app.repay", &name, Some(&loan(&before)), Some(&after)).await?;
    let standing = LoanStanding::from(&existing(&admin, &name).await?);
    Ok(Json(Repaid { paid, principal, standing }))
}

fn amount(mut form: Form) -> Result<Tokens, Problem> {
    let amount = form.whole("amount", 1..=MOST);
    if amount.is_none() && !form.has_fault("amount") {
        form.missing("amount", format!("a whole number from 1 to {MOST}"));
    }
    form.finish()?;
    Ok(Tokens::whole(amount.unwrap_or_default().unsigned_abs()))
}

impl From<&Found> for LoanStanding {
    fn from(found: &Found) -> Self {
        let account = &found.view.account;
        Self {
            borrowed: account.loan.borrowed.ceil(),
            debt: account.loan.debt.ceil(),
            tokens: account.rights.floor(),
        }
    }
}

/// What it owed, for the audit.
fn loan(found: &Found) -> Value {
    let LoanStanding { borrowed, debt, .. } = found.into();
    json!({"borrowed": borrowed, "debt": debt})
}
