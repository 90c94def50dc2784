"""Amazon SageMaker training jobs, by plain CreateTrainingJob under the `sagemaker-training` toolkit's contract.

When a sweep is planned and submitted:

    asked/               what may a sweep ask of SageMaker alone, under `platforms.sagemaker`?
    aws_images/          which of AWS's own images are there, and which versions carry what?
    planning.py          what of a sweep and of a lane is SageMaker's, what does it refuse, and what does it count?
    limits.py            how much of everything does CreateTrainingJob take?
    processes/           how do a training's processes start?
    image_variables.py   which variables take the place of the image's own?
    instance_types.py    which instance types are SageMaker's?
    stage.py             what do all tasks share in a Region?
    images.py            which container image does a training run in?

In every launcher:

    runner.py    how is a training started or adopted, polled and stopped, and its log read?
    request.py   which CreateTrainingJob request does an attempt make?
    from_variables.py    what do all tasks share that nobody has planned?
    described/   what does SageMaker tell of a training: how it stands, what it has, and why?

When an account is set up:

    operating.py  what may the roles do there?
    feeds/        what do trainings and instances cost, and how many may there be?
"""
